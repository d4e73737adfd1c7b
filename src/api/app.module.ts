// The application: one module per kind of resource, and the controllers that belong to none. Services are plain
// objects made by createApi; this module only makes them known to the controllers.
import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { ActivationsModule } from '../resources/activations/activations.module.ts';
import { BatchModule } from '../resources/batch/batch.module.ts';
import { DiffModule } from '../resources/diff/diff.module.ts';
import { ExplainModule } from '../resources/explain/explain.module.ts';
import { FindingsModule } from '../resources/findings/findings.module.ts';
import { resourceModules } from '../resources/resources.module.ts';
import { RolloutsModule } from '../resources/rollouts/rollouts.module.ts';
import { SnapshotsModule } from '../resources/snapshots/snapshots.module.ts';
import { StagedModule } from '../resources/staged/staged.module.ts';
import { CertificatesController } from './certificates.controller.ts';
import { ClusterController } from './cluster.controller.ts';
import { CookieKeysController } from './cookie-keys.controller.ts';
import { DebugController } from './debug.controller.ts';
import { DisksController } from './disks.controller.ts';
import { DocsController } from './docs.controller.ts';
import { EndpointsController } from './endpoints.controller.ts';
import { EventsController } from './events.controller.ts';
import { FleetController, FleetMessagesController } from './fleet.controller.ts';
import { HealthController } from './health.controller.ts';
import { IndexController } from './index.controller.ts';
import { KeysController } from './keys.controller.ts';
import { LogLevelController } from './log-level.controller.ts';
import { MetricsController } from './metrics.controller.ts';
import { MirrorsController } from './mirrors.controller.ts';
import { RequestsController } from './requests.controller.ts';
import { StatsController } from './stats.controller.ts';
import { SyncController } from './sync.controller.ts';
import { UiController } from './ui.controller.ts';
import { WhoamiController } from './whoami.controller.ts';

@Module({
  imports: [
    ...resourceModules,
    SnapshotsModule,
    ActivationsModule,
    BatchModule,
    StagedModule,
    RolloutsModule,
    ExplainModule,
    FindingsModule,
    DiffModule,
  ],
  controllers: [
    HealthController,
    MetricsController,
    ClusterController,
    DebugController,
    SyncController,
    FleetController,
    FleetMessagesController,
    RequestsController,
    MirrorsController,
    EventsController,
    CookieKeysController,
    KeysController,
    EndpointsController,
    CertificatesController,
    DisksController,
    StatsController,
    LogLevelController,
    WhoamiController,
    DocsController,
    IndexController,
    UiController,
  ],
})
class AppModule {}

/** Application with its services, each provided under its own class. */
export const appModule = (providers: readonly Provider[]): DynamicModule => ({
  module: AppModule,
  global: true,
  providers: [...providers],
  exports: [...providers],
});

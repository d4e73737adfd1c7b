// The REST surface of snapshots. SnapshotService comes from the application module.
import { Module } from '@nestjs/common';
import { SnapshotsController } from './snapshots.controller.ts';

@Module({ controllers: [SnapshotsController] })
export class SnapshotsModule {}

// The REST surface of rollouts. RolloutService comes from the application module.
import { Module } from '@nestjs/common';
import { RolloutsController } from './rollouts.controller.ts';

@Module({ controllers: [RolloutsController] })
export class RolloutsModule {}

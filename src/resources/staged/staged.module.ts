// The REST surface of the staged configuration as a whole. StagedService comes from the application module.
import { Module } from '@nestjs/common';
import { StagedController } from './staged.controller.ts';

@Module({ controllers: [StagedController] })
export class StagedModule {}

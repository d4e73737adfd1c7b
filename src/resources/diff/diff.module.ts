import { Module } from '@nestjs/common';
import { DiffController } from './diff.controller.ts';

@Module({ controllers: [DiffController] })
export class DiffModule {}

import { Module } from '@nestjs/common';
import { FindingsController } from './findings.controller.ts';

@Module({ controllers: [FindingsController] })
export class FindingsModule {}

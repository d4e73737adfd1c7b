// The REST surface of activations. ActivationService comes from the application module.
import { Module } from '@nestjs/common';
import { ActivationsController } from './activations.controller.ts';

@Module({ controllers: [ActivationsController] })
export class ActivationsModule {}

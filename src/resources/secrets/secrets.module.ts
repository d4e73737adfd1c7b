// The REST surface of secrets. ResourceService comes from the application module.
import { Module } from '@nestjs/common';
import { Secret } from '../../model/secret.ts';
import { crudController } from '../crud.controller.ts';

@Module({ controllers: [crudController('secrets', Secret)] })
export class SecretsModule {}

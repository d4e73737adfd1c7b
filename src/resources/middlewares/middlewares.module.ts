// The REST surface of middlewares. ResourceService comes from the application module.
import { Module } from '@nestjs/common';
import { Middleware } from '../../model/middleware.ts';
import { crudController } from '../crud.controller.ts';

@Module({ controllers: [crudController('middlewares', Middleware)] })
export class MiddlewaresModule {}

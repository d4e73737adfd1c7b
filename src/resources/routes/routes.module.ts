// The REST surface of routes. ResourceService comes from the application module.
import { Module } from '@nestjs/common';
import { Route } from '../../model/route.ts';
import { crudController } from '../crud.controller.ts';

@Module({ controllers: [crudController('routes', Route)] })
export class RoutesModule {}

// The REST surface of listeners. ResourceService comes from the application module.
import { Module } from '@nestjs/common';
import { Listener } from '../../model/listener.ts';
import { crudController } from '../crud.controller.ts';

@Module({ controllers: [crudController('listeners', Listener)] })
export class ListenersModule {}

// The REST surface of destinations. ResourceService comes from the application module.
import { Module } from '@nestjs/common';
import { Destination } from '../../model/destination.ts';
import { crudController } from '../crud.controller.ts';

@Module({ controllers: [crudController('destinations', Destination)] })
export class DestinationsModule {}

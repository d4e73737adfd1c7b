// The REST surface of groups. ResourceService comes from the application module.
import { Module } from '@nestjs/common';
import { Group } from '../../model/group.ts';
import { crudController } from '../crud.controller.ts';

@Module({ controllers: [crudController('groups', Group)] })
export class GroupsModule {}

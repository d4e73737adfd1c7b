// The REST surface of every kind that is edited: one module for each, with the same operations. ResourceService comes from
// the application module.
import { Module, type Type } from '@nestjs/common';
import { editableKinds } from '../model/kinds.ts';
import { classOf } from '../model/validation.ts';
import { crudController } from './crud.controller.ts';

export const resourceModules: readonly Type<unknown>[] = editableKinds.map((kind) => {
  @Module({ controllers: [crudController(kind, classOf[kind])] })
  class ResourceModule {}
  return ResourceModule;
});

// Schemas by name, as the components of the OpenAPI document.
import type { OpenAPIObject } from '@nestjs/swagger';

export type ComponentSchemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;

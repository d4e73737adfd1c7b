// Examples of operations for explorers, from their declarations: with those of the bodies of resources, each operation works
// when it is executed as it stands, in the order of the document's story.
import type { OpenAPIObject } from '@nestjs/swagger';
import { operationOf } from '../resources/operation.ts';

type Paths = OpenAPIObject['paths'];

/** Fills in the examples. */
export function fillExamples(paths: Paths): void {
  const operations = Object.values(paths).flatMap((item) => [item.get, item.post, item.put, item.delete]);
  for (const operation of operations) {
    const { path = {}, body } = operationOf(operation?.operationId ?? '')?.example ?? {};
    for (const parameter of operation?.parameters ?? []) {
      if ('in' in parameter && parameter.in === 'path' && path[parameter.name] !== undefined)
        parameter.example = path[parameter.name];
    }
    if (body === undefined || operation?.requestBody === undefined || !('content' in operation.requestBody)) continue;
    for (const content of Object.values(operation.requestBody.content))
      content.examples = { working: { summary: 'A body that works', value: body } };
  }
}

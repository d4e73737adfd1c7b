// Change of one resource by a person: one batch of one operation, which another edit meanwhile refuses.
import type { BatchAnswer } from '../../model/answers/batch-answers.ts';
import type { EditableKind } from '../../model/kinds.ts';
import type { Session } from '../command-session.ts';
import { ApiRefusal } from '../connection/failed-answers.ts';
import type { Entity } from '../entities.ts';
import { CommandFailure, exitCodes } from '../exit.ts';

export interface Replacement {
  readonly kind: EditableKind;
  readonly id: string;
  readonly entity: Entity;
  /** Quoted revision that it had when it was read. */
  readonly etag: string;
}

/** Writes the resource; resolves with false when nothing changed. */
export async function replaceEntity(session: Session, { kind, id, entity, etag }: Replacement): Promise<boolean> {
  const api = await session.api();
  const operation = { op: 'update', kind, id, ifMatch: etag, body: entity };
  try {
    const { body } = await api.ask<BatchAnswer>('POST', '/batch', {
      query: { fieldValidation: 'strict' },
      json: { operations: [operation] },
    });
    return body.results.some(({ changed }) => changed !== false);
  } catch (error) {
    if (!(error instanceof ApiRefusal)) throw error;
    if (error.status === 412)
      throw new CommandFailure(
        exitCodes.refused,
        `${kind}/${entity.name} was changed by another client meanwhile; nothing was written`,
      );
    throw new ApiRefusal(error.status, error.reason.replaceAll('/operations/0/body', ''));
  }
}

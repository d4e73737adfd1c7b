// Answers of this process to the question for a page of its recorded requests.
import { SluiceError } from '../errors.ts';
import type { RecentSource } from '../model/recent-request.ts';
import type { PageAnswer, PageQuestion } from '../model/recorded-page.ts';
import { passesOf } from './request-query.ts';

export async function answerPage(source: RecentSource, { limit, where, before }: PageQuestion): Promise<PageAnswer> {
  try {
    return { page: await source.page(limit, passesOf(where), before) };
  } catch (error) {
    if (error instanceof SluiceError && error.code === 'INVALID') return { refused: error.message };
    throw error;
  }
}

// Processes as sources of recorded requests.
import { SluiceError } from '../errors.ts';
import type { RecentSource } from '../model/recent-request.ts';
import type { PageAnswer, PageQuestion } from '../model/recorded-page.ts';
import { answerPage } from './page-answers.ts';
import type { RecordSource } from './recorded-requests.ts';

/** Records of this process. */
export const ownRecords = (name: string, source: RecentSource, where: string | undefined): RecordSource =>
  askedRecords(name, where, (question) => answerPage(source, question));

/** Records of a process that is asked; undefined: it does not answer. */
export const askedRecords = (
  name: string,
  where: string | undefined,
  ask: (question: PageQuestion) => Promise<PageAnswer | undefined>,
): RecordSource => ({
  name,
  async page(limit, before) {
    const filter = where === undefined ? {} : { where };
    const answer = await ask({ limit, ...filter, ...(before !== undefined && { before }) });
    if (answer === undefined) return undefined;
    if ('refused' in answer) throw new SluiceError('INVALID', answer.refused);
    return answer.page;
  },
});

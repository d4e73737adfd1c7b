import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { apiClient } from '../support/api-client.ts';
import { newFolder, startSluice } from '../support/sluice-process.ts';

const warning = /"level":"warn".*the log of this state, which ends at index \d+ of term \d+, is gone/;

describe('a state whose log was removed', () => {
  it('is taken over by a node of one, which says so once', async () => {
    const folder = newFolder();
    const first = await startSluice({ folder });
    await apiClient(first.url).create('routes', { id: 'kept', name: 'kept', directResponse: { status: 200 } });
    await first.stop();
    expect(first.output.join('\n')).not.to.match(warning);
    await rm(join(first.storePath, 'raft'), { recursive: true });

    const second = await startSluice({ folder });
    expect(second.output.join('\n')).to.match(warning);
    expect((await apiClient(second.url).get<{ id: string }>('/routes/kept')).body.id).to.equal('kept');
    await second.stop();

    const third = await startSluice({ folder });
    expect(third.output.join('\n')).not.to.match(warning);
    await third.stop();
  });
});

import { expect } from 'chai';
import { folderCycles } from '../../../scripts/folder-cycles.ts';

const modules = (imports: Record<string, string[]>) =>
  Object.entries(imports).map(([source, targets]) => ({
    source,
    dependencies: targets.map((resolved) => ({ resolved })),
  }));

describe('folders', () => {
  it('that need each other around a corner are found, with an import for each step', () => {
    const cycles = folderCycles(
      modules({
        'src/proxy/a/one.ts': ['src/proxy/b/two.ts'],
        'src/proxy/b/three.ts': ['src/proxy/c/four.ts'],
        'src/proxy/c/four.ts': ['src/proxy/a/five.ts'],
        'src/proxy/d/six.ts': ['src/proxy/a/one.ts'],
      }),
    );
    expect(cycles.map(({ folders }) => folders)).to.deep.equal([['src/proxy/a', 'src/proxy/b', 'src/proxy/c']]);
    expect(cycles[0]?.steps).to.include('src/proxy/c/four.ts -> src/proxy/a/five.ts');
  });

  it('that are part of one another are one concern', () => {
    const cycles = folderCycles(
      modules({
        'src/proxy/a/one.ts': ['src/proxy/a/inner/two.ts'],
        'src/proxy/a/inner/two.ts': ['src/proxy/a/three.ts'],
      }),
    );
    expect(cycles).to.deep.equal([]);
  });

  it('in an order are fine, and so is everything elsewhere', () => {
    const cycles = folderCycles(
      modules({
        'src/proxy/a/one.ts': ['src/proxy/b/two.ts', 'src/state/x.ts'],
        'src/state/x.ts': ['src/model/y.ts'],
        'src/model/y.ts': ['src/state/x.ts'],
      }),
    );
    expect(cycles).to.deep.equal([]);
  });
});

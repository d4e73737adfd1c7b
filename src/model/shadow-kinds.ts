/** Differences between what stable and the candidate do with a request. One request may have several. */
export const shadowKinds = ['moved', 'lost', 'gained', 'answersChanged', 'rejectedMore', 'rejectedLess'] as const;

export type ShadowKind = (typeof shadowKinds)[number];

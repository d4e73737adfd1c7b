// Form of a commit subject: an area, a colon, a verb in the imperative, at most 72 characters.

const form = /^[a-z0-9][\w ,./-]*: (\S+)/;

/** First words that are no imperative verb: articles, pronouns, question words, and verbs in another form. */
const notImperative =
  /^(the|a|an|of|it|that|what|whether|who|none|they|both|each|whose|where|when|how|which|nobody|somebody|all|no|\w+(?<!e)ed|\w+(?<![sr])ing)$/i;

/** Returns what is wrong with a subject, or undefined. */
export function subjectProblem(subject: string): string | undefined {
  if (subject.length > 72) return `${subject.length} characters, at most 72`;
  const verb = form.exec(subject)?.[1];
  if (verb === undefined) return 'not of the form `area: verb …`';
  return notImperative.test(verb) ? `"${verb}" is no verb in the imperative` : undefined;
}

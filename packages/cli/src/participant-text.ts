/** Texts for people about participants. */
import type { checkParticipant } from '@rollcall/admin/participants/check'

interface NewCredentials {
  readonly client_id: string
  readonly client_secret: string
}

/** Returns new credentials as lines. The secret is shown only this once. */
export const credentialsText = ({ client_id, client_secret }: NewCredentials): readonly string[] => [
  `client_id      ${client_id}`,
  `client_secret  ${client_secret}`,
  'The secret is not stored and cannot be shown again.',
]

type CheckReport = Pick<Awaited<ReturnType<typeof checkParticipant>>, 'passed' | 'steps'>

export const checkReportText = ({ passed, steps }: CheckReport): string =>
  [
    ...steps.map(({ name, state, text }) => `${state.padEnd(8)} ${name.padEnd(13)} ${text}`),
    passed ? 'every step has passed' : 'the check has not passed',
  ].join('\n')

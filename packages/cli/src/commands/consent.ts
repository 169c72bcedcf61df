/** `rollcall consent`: manages who may sign consents, and withdraws consents. */

import { adminCommand } from '../admin-command.ts'
import { type CommandGroup, lazyCommand } from '../command-tree.ts'
import { stoppedText, withdrawalText } from '../consent-text.ts'
import { CommandError } from '../failure.ts'
import { tableFormatter } from '../output.ts'
import { collectOption, readTypeAndValue, renameIdentifierMembers } from '../values.ts'

const loadAuthorityActs = () => import('@rollcall/admin/consents/authorities')
const loadConsentActs = () => import('@rollcall/admin/consents/consents')

const UNFINISHED_STOP_TEXT = 'stopping took too long: the servers end the subscriptions, and stop the answers, later'

const authorityKeysText = ({ keys }: { readonly keys: readonly { readonly kid: string }[] }): string =>
  keys.length === 0 ? 'the keys that it publishes' : keys.map(({ kid }) => kid).join(', ')

/** Options that choose a person's consents: the person as one word TYPE=VALUE, a purpose and a participant. */
const PERSON_CONSENTS_OPTIONS = {
  options: {
    identifier_type: null,
    identifier_value: null,
    purpose: null,
    participant: { help: 'only from this participant (default: all)' },
  },
  more: { '--identifier <TYPE=VALUE>': 'an identifier of the person; with --purpose', '--purpose <code>': 'code of the purpose' },
} as const

const readIdentifierOption = (text: unknown) => renameIdentifierMembers(readTypeAndValue(String(text), '--identifier'))

export const COMMAND_TREE: CommandGroup = {
  about: 'manage who may sign consents, and withdraw consents (docs/consent.md)',
  commands: {
    authority: {
      about: 'manage consent authorities: who may sign consents',
      commands: {
        add: adminCommand(async () => (await loadAuthorityActs()).addConsentAuthority, {
          about: 'add an authority, or replace its keys',
          args: 'name',
          options: {
            name: { help: 'its name: the iss of its consents' },
            keys: { flags: '--key <file>', help: 'its public key in PEM, as a JWK or a JWK set', read: collectOption },
            jwks_uri: { help: 'where it publishes its keys' },
            hosts: null,
          },
          reads: ['keys'],
          adds: true,
          examples: ['https://consent.example.org --key public-key.pem'],
          input: ({ keys = [] }) => ({ keys }),
          text: (added) =>
            `${added.name} may sign consents with ${authorityKeysText(added)}${added.jwks_uri === null ? '' : `; it publishes keys at ${added.jwks_uri}`}`,
        }),
        list: adminCommand(async () => (await loadAuthorityActs()).listConsentAuthorities, {
          about: 'list the authorities with their keys',
          examples: [''],
          text: tableFormatter('name keys jwks_uri', 'no authorities yet; rollcall consent authority add makes one', (row) => ({
            ...row,
            keys: authorityKeysText(row),
          })),
        }),
        remove: adminCommand(async () => (await loadAuthorityActs()).removeConsentAuthority, {
          about: 'remove an authority: its consents do not count any more',
          args: 'name',
          examples: ['https://consent.example.org'],
          text: (removed) =>
            `consents of ${removed.name} do not count any more\n${removed.unfinished ? UNFINISHED_STOP_TEXT : stoppedText(removed)}`,
        }),
      },
    },
    withdraw: adminCommand(async () => (await loadConsentActs()).withdrawConsent, {
      ...PERSON_CONSENTS_OPTIONS,
      about: 'withdraw a consent: queries and subscriptions under it stop at once',
      options: {
        ...PERSON_CONSENTS_OPTIONS.options,
        authority: { help: 'who signed the consent; with --jti' },
        jti: { help: 'jti of the signed consent' },
      },
      notes: 'Prints a signed receipt of what was stopped.',
      examples: ['--identifier UIN=8128560370 --purpose eligibility', '--authority https://consent.example.org --jti c-81'],
      input: ({ identifier }) => (identifier === undefined ? {} : readIdentifierOption(identifier)),
      text: withdrawalText,
    }),
    revoke: lazyCommand('withdraw the signed consents of a revocation list', () => import('./consent-revoke.ts')),
    reinstate: adminCommand(async () => (await loadConsentActs()).reinstateConsent, {
      ...PERSON_CONSENTS_OPTIONS,
      about: 'let consents of a person count again who withdrew them',
      examples: ['--identifier UIN=8128560370 --purpose eligibility'],
      input: ({ identifier, purpose }) => {
        if (identifier !== undefined && purpose !== undefined) return readIdentifierOption(identifier)
        throw new CommandError('--identifier and --purpose are needed')
      },
      text: ({ reinstated }) => `withdrawals that do not count any more: ${reinstated}`,
    }),
  },
}

/** `rollcall operator`: manages who may call the admin API. */

import type { makeSignInLink } from '@rollcall/admin/operators/sessions'
import { adminCommand, withConvertedResult } from '../admin-command.ts'
import type { CommandGroup } from '../command-tree.ts'
import type { CommandDeps } from '../environment.ts'
import { tableFormatter } from '../output.ts'

const loadOperatorActs = () => import('@rollcall/admin/operators/operators')
const loadSessionActs = () => import('@rollcall/admin/operators/sessions')

type SignInLink = Awaited<ReturnType<typeof makeSignInLink>>

const withConsoleUrl = ({ path, ...link }: SignInLink, { config }: CommandDeps) => ({
  ...link,
  url: `${config.consoleUrl}${path}`,
})

export const COMMAND_TREE: CommandGroup = {
  about: "manage the tokens of the admin API, which is on the operator's listener",
  commands: {
    add: adminCommand(async () => (await loadOperatorActs()).addOperator, {
      about: 'make a token and print it, once',
      args: 'name',
      options: {
        name: { help: 'name of the person or program that has it' },
        roles: { flags: '--role <role...>', help: 'what it may do: one role or more' },
        registries: { flags: '--registry <namespace>', help: 'bind it to a registry (default: all registries)' },
        authority: { help: 'bind it to a consent authority: it withdraws the consents of that one alone' },
        expires_at: { flags: '--expires <time>' },
      },
      notes: `
Roles: read sees all but personal data; publish may only send events; consent may only withdraw consents; operate is
read, withdraws consents, and changes what runs; audit is read, and sees personal data; own may do everything.`,
      examples: [
        'civil-registration-system --role publish --registry civil',
        'consent-service --role consent --authority https://consent.example.org',
      ],
      text: ({ name, expires_at, token }) =>
        `added ${name}, until ${expires_at}\ntoken  ${token}\nThe token is not stored and cannot be shown again.`,
    }),
    list: adminCommand(async () => (await loadOperatorActs()).listOperators, {
      about: 'list the tokens, without their secrets',
      examples: [''],
      text: tableFormatter(
        'name roles registries authority live expires_at revoked_at',
        'no tokens yet; rollcall operator add makes one',
        (row) => ({ ...row, registries: row.registries ?? 'all' }),
      ),
    }),
    revoke: adminCommand(async () => (await loadOperatorActs()).revokeOperator, {
      about: 'end a token and the sessions of its name: from the next call on they are refused',
      args: 'name',
      examples: ['civil-registration-system'],
      text: ({ name, sessions: ended, proposals }) =>
        [
          `${name} is revoked`,
          ...(ended > 0 ? [`sessions ended: ${ended}`] : []),
          ...(proposals > 0 ? [`proposals that nobody can approve now: ${proposals}`] : []),
        ].join('; '),
    }),
    sessions: adminCommand(async () => (await loadSessionActs()).listSessions, {
      about: 'list who is signed in to the console; operator sign-out ends their sessions',
      examples: [''],
      text: tableFormatter('id name provider created_at seen_at ends_at', 'nobody is signed in'),
    }),
    link: adminCommand(async () => withConvertedResult((await loadSessionActs()).makeSignInLink, withConsoleUrl), {
      about: 'print a link that signs in to the console as the owner of a token, once, within 15 minutes',
      args: 'name',
      notes: `
The address is that of ROLLCALL_CONSOLE_URL, else of ADMIN_HOST and ADMIN_PORT. Whoever opens the link is signed in: give it
to the owner of the token alone.`,
      examples: ['amina'],
      text: ({ name, expires_at, url }) => `${url}\nIt signs in as ${name}, once, until ${expires_at}. It cannot be shown again.`,
    }),
    'sign-out': adminCommand(async () => (await loadSessionActs()).endSessions, {
      about: 'end the sessions of somebody who is signed in to the console; the token stays good',
      args: 'name',
      options: { id: { flags: '--session <id>', help: 'only this session, by its id in operator sessions' } },
      examples: ['amina'],
      text: ({ name, sessions: ended }) => `${name} is signed out; sessions ended: ${ended}`,
    }),
  },
}

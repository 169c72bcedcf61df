/** `rollcall operator`: who may call the admin API. */

import {
  addOperator,
  listOperators,
  OPERATOR_ROLES,
  type OperatorRole,
  revokeOperator,
} from '@rollcall/admin/operators/operators'
import { endSessions, listSessions, makeSignInLink } from '@rollcall/admin/operators/sessions'
import { type Command, Option } from 'commander'
import { ask, withDatabase } from '../environment.ts'
import { type OutputOptions, print, table, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { collected, instant, wholeNumber } from '../values.ts'

export function addCommand(program: Command): void {
  const operator = program
    .command('operator')
    .description("manage the tokens of the admin API, which is on the operator's listener")
  withJson(operator.command('add'))
    .description('make a token and print it, once')
    .argument('<name>', 'name of the person or program that has it')
    .addOption(
      new Option('--role <role...>', 'what it may do: one role or more').choices(OPERATOR_ROLES).makeOptionMandatory(),
    )
    .option(
      '--registry <namespace>',
      'bind it to a registry; give it again for more (default: all registries)',
      collected,
    )
    .option('--authority <name>', 'bind it to a consent authority: it withdraws the consents of that one alone')
    .option('--expires <time>', 'from when on it is refused (default: in 90 days)', instant)
    .addHelpText(
      'after',
      `
Roles: read sees all but personal data; publish may only send events; consent may only withdraw consents; operate is
read, withdraws consents, and changes what runs; audit is read, and sees personal data; own may do everything.

Example: rollcall operator add civil-registration-system --role publish --registry civil
Example: rollcall operator add consent-service --role consent --authority https://consent.example.org`,
    )
    .action(runAdd)
  withJson(operator.command('list'))
    .description('list the tokens, without their secrets')
    .addHelpText('after', '\nExample: rollcall operator list')
    .action(runList)
  withJson(operator.command('revoke'))
    .description('end a token and the sessions of its name: from the next call on they are refused')
    .argument('<name>', 'its name')
    .addHelpText('after', '\nExample: rollcall operator revoke civil-registration-system')
    .action(runRevoke)
  withJson(operator.command('sessions'))
    .description('list who is signed in to the console; operator sign-out ends their sessions')
    .addHelpText('after', '\nExample: rollcall operator sessions')
    .action(runSessions)
  withJson(operator.command('link'))
    .description('print a link that signs in to the console as the owner of a token, once, within 15 minutes')
    .argument('<name>', 'name of the token')
    .addHelpText(
      'after',
      `
The address is that of ROLLCALL_CONSOLE_URL, else of ADMIN_HOST and ADMIN_PORT. Whoever opens the link is signed in: give it
to the owner of the token alone.

Example: rollcall operator link amina`,
    )
    .action(runLink)
  withJson(operator.command('sign-out'))
    .description('end the sessions of somebody who is signed in to the console; the token stays good')
    .argument('<name>', 'who is signed in')
    .option('--session <id>', 'only this session, by its id in operator sessions', wholeNumber(1))
    .addHelpText('after', '\nExample: rollcall operator sign-out amina')
    .action(runSignOut)
}

interface AddOptions extends OutputOptions {
  readonly role: readonly OperatorRole[]
  readonly registry?: readonly string[]
  readonly authority?: string
  readonly expires?: Date
}

async function runAdd(
  name: string,
  { role: roles, registry, authority, expires, ...options }: AddOptions,
): Promise<void> {
  stopRequest()
  const added = await ask(addOperator, {
    name,
    roles,
    registries: registry,
    authority,
    expires_at: expires?.toISOString(),
  })
  const text = [
    `added ${added.name}, until ${added.expires_at}`,
    `token  ${added.token}`,
    'The token is not stored and cannot be shown again.',
  ].join('\n')
  print(options, added, text)
}

async function runList(options: OutputOptions): Promise<void> {
  stopRequest()
  const rows = await ask(listOperators, {})
  const shown = rows.map(({ roles, registries, ...row }) => ({
    ...row,
    roles: roles.join(' '),
    registries: registries?.join(' ') ?? 'all',
  }))
  const columns = ['name', 'roles', 'registries', 'authority', 'live', 'expires_at', 'revoked_at']
  print(options, rows, table(columns, shown, 'no tokens yet; rollcall operator add makes one'))
}

async function runRevoke(name: string, options: OutputOptions): Promise<void> {
  stopRequest()
  const revoked = await ask(revokeOperator, { name })
  const { sessions, proposals } = revoked
  const ended = sessions > 0 ? `; sessions ended: ${sessions}` : ''
  const lapsed = proposals > 0 ? `; proposals that nobody can approve now: ${proposals}` : ''
  print(options, revoked, `${name} is revoked${ended}${lapsed}`)
}

async function runSessions(options: OutputOptions): Promise<void> {
  stopRequest()
  const rows = await withDatabase((needs) => listSessions({ ...needs, limits: needs.config.limits }, {}))
  const columns = ['id', 'name', 'provider', 'created_at', 'seen_at', 'ends_at']
  print(options, rows, table(columns, rows, 'nobody is signed in'))
}

async function runSignOut(
  name: string,
  { session: id, ...options }: OutputOptions & { readonly session?: number },
): Promise<void> {
  stopRequest()
  const ended = await ask(endSessions, { name, id })
  print(options, ended, `${ended.name} is signed out; sessions ended: ${ended.sessions}`)
}

async function runLink(name: string, options: OutputOptions): Promise<void> {
  stopRequest()
  const { path, ...link } = await withDatabase(async (needs) => {
    const made = await makeSignInLink(needs, { name })
    return { ...made, url: `${needs.config.consoleUrl}${made.path}` }
  })
  const text = `${link.url}\nIt signs in as ${link.name}, once, until ${link.expires_at}. It cannot be shown again.`
  print(options, link, text)
}

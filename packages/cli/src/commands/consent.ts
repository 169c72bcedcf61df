/** `rollcall consent`: who may sign consents, and withdrawals of consents. */
import {
  addConsentAuthority,
  listConsentAuthorities,
  removeConsentAuthority,
} from '@rollcall/admin/consents/authorities'
import { reinstateConsent, revokeConsents, withdrawConsent } from '@rollcall/admin/consents/consents'
import type { Command } from 'commander'
import { ask, askToAdd } from '../environment.ts'
import { CommandError } from '../failure.ts'
import { readInput } from '../input.ts'
import { counted, type OutputOptions, print, table, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { collected, identifierOf, typeAndValue } from '../values.ts'
import { readYaml } from '../yaml.ts'

export function addCommand(program: Command): void {
  const consent = program
    .command('consent')
    .description('manage who may sign consents, and withdraw consents (docs/consent.md)')
  addAuthority(consent)
  withPerson(consent.command('withdraw'))
    .description('withdraw a consent: queries and subscriptions under it stop at once')
    .option('--authority <name>', 'who signed the consent; with --jti')
    .option('--jti <jti>', 'jti of the signed consent')
    .addHelpText(
      'after',
      `
Prints a signed receipt of what was stopped.

Example: rollcall consent withdraw --identifier UIN=8128560370 --purpose eligibility
Example: rollcall consent withdraw --authority https://consent.example.org --jti c-81`,
    )
    .action(runWithdraw)
  withJson(consent.command('revoke'))
    .description('withdraw the signed consents of a revocation list')
    .requiredOption('--file <file>', 'the list in JSON or YAML: authority, and revoked with a list of jti')
    .addHelpText('after', '\nExample: rollcall consent revoke --file revoked.yaml')
    .action(runRevoke)
  withPerson(consent.command('reinstate'))
    .description('let consents of a person count again who withdrew them')
    .addHelpText('after', '\nExample: rollcall consent reinstate --identifier UIN=8128560370 --purpose eligibility')
    .action(runReinstate)
}

function addAuthority(consent: Command): void {
  const authority = consent.command('authority').description('manage consent authorities: who may sign consents')
  withJson(authority.command('add'))
    .description('add an authority, or replace its keys')
    .argument('<name>', 'its name: the iss of its consents')
    .option('--key <file>', 'its public key in PEM, as a JWK or a JWK set; give it again for more', collected)
    .option('--jwks-uri <address>', 'where it publishes its keys')
    .addHelpText('after', '\nExample: rollcall consent authority add https://consent.example.org --key public-key.pem')
    .action(runAdd)
  withJson(authority.command('list'))
    .description('list the authorities with their keys')
    .addHelpText('after', '\nExample: rollcall consent authority list')
    .action(runList)
  withJson(authority.command('remove'))
    .description('remove an authority: its consents do not count any more')
    .argument('<name>', 'its name')
    .addHelpText('after', '\nExample: rollcall consent authority remove https://consent.example.org')
    .action(runRemove)
}

const withPerson = (command: Command): Command =>
  withJson(command)
    .option('--identifier <TYPE=VALUE>', 'an identifier of the person; with --purpose')
    .option('--purpose <code>', 'code of the purpose')
    .option('--participant <sender_id>', 'only from this participant (default: all)')

interface AddOptions extends OutputOptions {
  readonly key?: readonly string[]
  readonly jwksUri?: string
}

async function runAdd(name: string, { key = [], jwksUri, ...options }: AddOptions): Promise<void> {
  stopRequest()
  const keys: string[] = []
  for (const file of key) keys.push(await readInput(file, '--key'))
  const added = await askToAdd(addConsentAuthority, { name, keys, jwks_uri: jwksUri })
  const from = added.jwks_uri === null ? '' : `; it publishes keys at ${added.jwks_uri}`
  print(options, added, `${added.name} may sign consents with ${keysText(added)}${from}`)
}

const keysText = ({ keys }: { readonly keys: readonly { readonly kid: string }[] }): string =>
  keys.length === 0 ? 'the keys that it publishes' : keys.map(({ kid }) => kid).join(', ')

async function runList(options: OutputOptions): Promise<void> {
  stopRequest()
  const rows = await ask(listConsentAuthorities, {})
  const shown = rows.map((row) => ({ name: row.name, keys: keysText(row), jwks_uri: row.jwks_uri }))
  const empty = 'no authorities yet; rollcall consent authority add makes one'
  print(options, rows, table(['name', 'keys', 'jwks_uri'], shown, empty))
}

async function runRemove(name: string, options: OutputOptions): Promise<void> {
  stopRequest()
  const removed = await ask(removeConsentAuthority, { name })
  print(options, removed, `consents of ${removed.name} do not count any more\n${stoppedText(removed)}`)
}

interface PersonOptions extends OutputOptions {
  readonly identifier?: string
  readonly purpose?: string
  readonly participant?: string
}

interface WithdrawOptions extends PersonOptions {
  readonly authority?: string
  readonly jti?: string
}

async function runWithdraw({ identifier, ...given }: WithdrawOptions): Promise<void> {
  stopRequest()
  const { authority, jti, purpose, participant, ...options } = given
  const person = identifier === undefined ? {} : identifierIn(identifier)
  const done = await ask(withdrawConsent, { authority, jti, purpose, participant, ...person })
  print(options, done, receiptText(done))
}

async function runRevoke({ file, ...options }: OutputOptions & { readonly file: string }): Promise<void> {
  stopRequest()
  const { value, refusedWithLine } = await readYaml(file, '--file')
  const done = await refusedWithLine(() => ask(revokeConsents, value as Parameters<typeof revokeConsents>[1]))
  print(options, done, receiptText(done))
}

async function runReinstate({ identifier, ...given }: PersonOptions): Promise<void> {
  stopRequest()
  const { purpose, participant, ...options } = given
  if (identifier === undefined || purpose === undefined) {
    throw new CommandError('--identifier and --purpose are needed')
  }
  const done = await ask(reinstateConsent, { ...identifierIn(identifier), purpose, participant })
  print(options, done, `withdrawals that do not count any more: ${done.reinstated}`)
}

const identifierIn = (text: string) => identifierOf(typeAndValue(text, '--identifier'))

type Done = Awaited<ReturnType<typeof withdrawConsent>>

const receiptText = (done: Done): string =>
  [`withdrawn at ${done.at}`, stoppedText(done), `receipt  ${done.receipt}`].join('\n')

function stoppedText({ stopped }: Pick<Done, 'stopped'>): string {
  const { subscriptions, notifications, deliveries, in_flight } = stopped
  return [
    `stopped  ${counted(subscriptions.length, 'subscription')}, ${counted(notifications, 'notification')}, ${counted(deliveries, 'answer')} on the way`,
    ...(in_flight === 0 ? [] : [`${in_flight} messages are being sent at this moment; they are not sent again`]),
    ...subscriptions.map((code) => `  ${code}`),
  ].join('\n')
}

/** `rollcall participant host`: which hosts our requests to a participant may reach beyond https to the public network. */
import { type AllowedHost, type Participant, setSealPolicy, unreachableHost } from '@rollcall/server'
import type { Command } from 'commander'
import { withDatabase } from '../environment.ts'
import { CommandError } from '../failure.ts'
import { type OutputOptions, print, table, withJson } from '../output.ts'
import { participantNamed } from '../participants.ts'
import { stopRequest } from '../stop.ts'
import { portOrAny } from '../values.ts'

export function addHostCommands(participant: Command): void {
  const host = participant
    .command('host')
    .description('manage hosts of participants that are not on the public network, or not at port 443')
  withJson(host.command('allow'))
    .description(
      'allow requests to a host of a participant; this replaces what was allowed for that host before',
    )
    .argument('<sender_id>', 'its sender_id')
    .argument('<host>', 'a name or an address, as it stands in a URL')
    .option('--port <port...>', 'ports, or any (default: 443)', portOrAny)
    .option('--plain-http', 'allow messages without TLS')
    .option('--loopback', 'allow an address of this machine')
    .option('--private', 'allow an address of a private network')
    .addHelpText(
      'after',
      '\nRefused is an address that no setting opens, such as that of cloud metadata (169.254.169.254), of link-local or of\n' +
        'multicast networks, and 0.0.0.0.\n' +
        '\nExample: rollcall participant host allow spmis.example.org spmis.internal --private --port 8443',
    )
    .action(runAllow)
  withJson(host.command('list'))
    .description('list the hosts that are allowed for a participant')
    .argument('<sender_id>', 'its sender_id')
    .addHelpText('after', '\nExample: rollcall participant host list spmis.example.org')
    .action((sender_id: string, options: OutputOptions) => change(sender_id, options, () => null))
  withJson(host.command('remove'))
    .description('remove a host that was allowed')
    .argument('<sender_id>', 'its sender_id')
    .argument('<host>', 'the host')
    .addHelpText('after', '\nExample: rollcall participant host remove spmis.example.org spmis.internal')
    .action((sender_id: string, host: string, options: OutputOptions) =>
      change(sender_id, options, (rows) => without(rows, host)),
    )
}

interface AllowOptions extends OutputOptions {
  readonly port?: readonly (number | 'any')[]
  readonly plainHttp?: true
  readonly loopback?: true
  readonly private?: true
}

async function runAllow(
  sender_id: string,
  host: string,
  { port: ports, plainHttp, loopback, private: inside, ...options }: AllowOptions,
): Promise<void> {
  const row: AllowedHost = {
    host,
    ...(ports !== undefined && { ports: portsOf(ports) }),
    ...(plainHttp && { plainHttp }),
    ...(loopback && { loopback }),
    ...(inside && { private: inside }),
  }
  const problem = unreachableHost(row)
  if (problem !== null) throw new CommandError(problem)
  await change(sender_id, options, (rows) => [...rows.filter((known) => known.host !== host), row])
}

function portsOf(ports: readonly (number | 'any')[]): readonly number[] | 'any' {
  const numbers = ports.filter((port) => port !== 'any')
  return numbers.length < ports.length ? 'any' : numbers
}

function without(rows: readonly AllowedHost[], host: string): readonly AllowedHost[] {
  const others = rows.filter((row) => row.host !== host)
  if (others.length === rows.length)
    throw new CommandError(
      `nothing is allowed for ${host}; rollcall participant host list shows what is allowed`,
    )
  return others
}

/** Prints what is allowed after a change; null: nothing is to be changed. */
async function change(
  sender_id: string,
  options: OutputOptions,
  changed: (rows: readonly AllowedHost[]) => readonly AllowedHost[] | null,
): Promise<void> {
  stopRequest()
  const { outgoing } = await withDatabase(async (db): Promise<Participant> => {
    const participant = await participantNamed(db, sender_id)
    const rows = changed(participant.outgoing)
    return rows === null ? participant : setSealPolicy(db, sender_id, { outgoing: rows })
  })
  const columns = ['host', 'ports', 'plain_http', 'loopback', 'private']
  const rows = outgoing.map((row) => ({
    host: row.host,
    ports: [row.ports ?? 443].flat().join(' '),
    plain_http: row.plainHttp === true,
    loopback: row.loopback === true,
    private: row.private === true,
  }))
  print(options, outgoing, table(columns, rows, 'https to port 443 on the public network, and nothing else'))
}

/** `rollcall participant host`: which hosts our requests to a participant may reach beyond https to the public network. */
import { allowParticipantHost, listParticipantHosts, removeParticipantHost } from '@rollcall/admin/participants/policy'
import type { Command } from 'commander'
import { ask } from '../environment.ts'
import { type OutputOptions, print, table, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { portOrAny } from '../values.ts'

export function addHostCommands(participant: Command): void {
  const host = participant
    .command('host')
    .description('manage hosts of participants that are not on the public network, or not at port 443')
  withJson(host.command('allow'))
    .description('allow requests to a host of a participant; this replaces what was allowed for that host')
    .argument('<sender_id>', 'its sender_id')
    .argument('<host>', 'a name or an address, as it stands in a URL')
    .option('--port <port...>', 'ports, or any (default: 443)', portOrAny)
    .option('--plain-http', 'allow messages without TLS')
    .option('--loopback', 'allow an address of this machine')
    .option('--private', 'allow an address of a private network')
    .addHelpText(
      'after',
      '\nSome addresses are always refused: those of cloud metadata (169.254.169.254), of link-local and of multicast\n' +
        'networks, and 0.0.0.0, for example.\n' +
        '\nExample: rollcall participant host allow spmis.example.org spmis.internal --private --port 8443',
    )
    .action(runAllow)
  withJson(host.command('list'))
    .description('list the hosts that are allowed for a participant')
    .argument('<sender_id>', 'its sender_id')
    .addHelpText('after', '\nExample: rollcall participant host list spmis.example.org')
    .action((sender_id: string, options: OutputOptions) =>
      show(options, () => ask(listParticipantHosts, { sender_id })),
    )
  withJson(host.command('remove'))
    .description('remove a host that was allowed')
    .argument('<sender_id>', 'its sender_id')
    .argument('<host>', 'the host')
    .addHelpText('after', '\nExample: rollcall participant host remove spmis.example.org spmis.internal')
    .action((sender_id: string, host: string, options: OutputOptions) =>
      show(options, () => ask(removeParticipantHost, { sender_id, host })),
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
  const row = { host, ports: ports && portsOf(ports), plainHttp, loopback, private: inside }
  await show(options, () => ask(allowParticipantHost, { sender_id, ...row }))
}

function portsOf(ports: readonly (number | 'any')[]): readonly number[] | 'any' {
  const numbers = ports.filter((port) => port !== 'any')
  return numbers.length < ports.length ? 'any' : numbers
}

/** Prints what is allowed. */
async function show(options: OutputOptions, list: () => ReturnType<typeof listParticipantHosts>): Promise<void> {
  stopRequest()
  const outgoing = await list()
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

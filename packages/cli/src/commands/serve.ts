/** `rollcall serve`: runs the server, for production. */

import { migrateDatabase } from '@rollcall/admin/database'
import { refuseDemoData } from '@rollcall/admin/demo/demo-database'
import { listRecordTypesToBackfill } from '@rollcall/admin/registries/indexes'
import { isLoopback } from '@rollcall/base/shared/loopback'
import { checkSchema, type Database } from '@rollcall/database/database'
import { allAddressesNote, baseUrl, listenerUrl } from '@rollcall/settings/addresses'
import { type Config, NODE_ROLES, type NodeRole } from '@rollcall/settings/config'
import { type DatabaseConnections, describeDatabase, openStorage } from '@rollcall/settings/storage'
import { type Command, Option } from 'commander'
import { readConfiguration } from '../environment.ts'
import { CommandError } from '../failure.ts'
import { refuseTakenPorts, startListening } from '../listen.ts'
import { type OutputOptions, printResult, withJsonOption } from '../output.ts'
import { listenForStop } from '../stop.ts'

export function addCommand(program: Command): void {
  withJsonOption(program.command('serve'))
    .description('run the server until SIGINT, SIGTERM or SIGHUP; it migrates the database first')
    .addOption(
      new Option(
        '--role <role>',
        'whether this node answers peers, processes accepted requests, or does both (ROLLCALL_ROLE)',
      ).choices(NODE_ROLES),
    )
    .option('--no-migrate', 'refuse a database whose tables are older, instead of upgrading them')
    .addHelpText(
      'after',
      `
Health is at /health and /ready, metrics at /metrics and the admin API at /admin/v1 of the operator's listener
(ADMIN_HOST, ADMIN_PORT).
Any number of nodes may run on one database (docs/nodes.md); a worker has the operator's listener only.
It refuses the database of a demo.

It listens on an address that is not loopback only behind a proxy that terminates TLS (ROLLCALL_BEHIND_TLS_PROXY=1).
The operator's listener may also be on a network of your own machines (ROLLCALL_ADMIN_PRIVATE_NETWORK=1); /metrics
and the admin API answer under its own address and the names in ROLLCALL_ADMIN_HOSTS.

Example: rollcall serve --role worker
Example: rollcall serve --no-migrate
Example: HOST=0.0.0.0 ROLLCALL_BEHIND_TLS_PROXY=1 ROLLCALL_PUBLIC_URL=https://registry.example.org rollcall serve`,
    )
    .action(runServe)
}

interface ServeOptions extends OutputOptions {
  readonly role?: NodeRole
  readonly migrate: boolean
}

async function runServe({ role, migrate, ...options }: ServeOptions): Promise<void> {
  const stop = listenForStop()
  const config = { ...readConfiguration(), ...(role !== undefined && { role }) }
  refusePlainHttp(config)
  await refuseTakenPorts(config)
  const storage = await openStorage(config)
  try {
    await prepareDatabase(storage, migrate)
    if (!stop.signal.aborted) await serveUntilStop(stop.asked, config, storage.db, options)
  } finally {
    await storage.close()
  }
}

/** Refuses to serve other machines in plain HTTP where no setting permits it. @throws CommandError */
function refusePlainHttp({ role, host, adminHost, behindTlsProxy, adminPrivateNetwork }: Config): void {
  if (behindTlsProxy) return
  if (!adminPrivateNetwork && !isLoopback(adminHost)) {
    throw new CommandError(
      `ADMIN_HOST is ${adminHost}, where metrics would be shown in plain HTTP and without a login: put a proxy that ` +
        'terminates TLS in front of it and set ROLLCALL_BEHIND_TLS_PROXY=1, or set ' +
        'ROLLCALL_ADMIN_PRIVATE_NETWORK=1 if only your own machines can reach it',
    )
  }
  if (role === 'worker' || isLoopback(host)) return
  throw new CommandError(
    `HOST is ${host}, where peers would be answered in plain HTTP: put a proxy that terminates TLS in front of it, ` +
      'and set ROLLCALL_BEHIND_TLS_PROXY=1',
  )
}

/** Refuses the database of a demo. Migrates any other database; without `migrate`, refuses a database with older tables. */
async function prepareDatabase(storage: DatabaseConnections, migrate: boolean): Promise<void> {
  // The owner role reads the tables here: before the migration, the application role may have no right to read some of them.
  await refuseDemoData(storage.owner)
  if (!migrate) await checkSchema(storage.db)
  await migrateDatabase(storage, {})
}

/**
 * Stops a running node. The caller calls it after a newer Rollcall has migrated the database more than one version ahead: tables
 * may lack what the node uses.
 * @throws CommandError always
 */
function stopOutdatedNode({ version }: { readonly version: string }): never {
  throw new CommandError(
    `the schema of the database is of version ${version}, more than one version ahead of this node: ` +
      'it stops; start the version that migrated the database',
  )
}

async function serveUntilStop(asked: Promise<void>, config: Config, db: Database, options: OutputOptions): Promise<void> {
  const { server, log } = await startListening(config, db)
  try {
    server.markReady()
    const registries = await listRecordTypesToBackfill({ db })
    for (const { namespace, record_types } of registries) {
      if (record_types.length === 0) continue
      log.warn(
        { namespace, record_types },
        `records must be read again, and some searches are refused until then: run rollcall index apply ${namespace}`,
      )
    }
    const admin_url = listenerUrl(config.adminHost, server.adminPort)
    const url = server.port === 0 ? null : baseUrl(config, server.port)
    const operator = `for its operator on ${admin_url}${allAddressesNote('ADMIN_HOST', config.adminHost)}`
    const text =
      url === null
        ? `Rollcall works, and listens ${operator}`
        : `Rollcall listens on ${url}${allAddressesNote('HOST', config.host)}, ${operator}`
    const database = describeDatabase(config)
    const nothing = 'it hosts no registry yet: rollcall registry add civil adds one, and this server has it within a second'
    const lines = [text, `it uses ${database}`, ...(registries.length === 0 ? [nothing] : [])]
    printResult(options, { role: config.role, url, admin_url, database, registries: registries.length }, lines.join('\n'))
    await Promise.race([asked, server.outdated.then(stopOutdatedNode)])
    log.info('stopping')
  } finally {
    await server.stop()
  }
}

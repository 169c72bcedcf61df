/** `rollcall serve`: the server, for production. */
import {
  baseUrl,
  type Config,
  type Database,
  ensureRecordTables,
  isLoopback,
  listenerUrl,
  listRegistries,
  migrate,
  openStorage,
} from '@rollcall/server'
import type { Command } from 'commander'
import { refuseDemoData } from '../demo/directory.ts'
import { configuration } from '../environment.ts'
import { CommandError } from '../failure.ts'
import { startListening } from '../listen.ts'
import { type OutputOptions, print, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'

export function addCommand(program: Command): void {
  withJson(program.command('serve'))
    .description('run the server until SIGINT, SIGTERM or SIGHUP; it migrates the database first')
    .addHelpText(
      'after',
      `
Health is at /health and /ready; metrics are at /metrics of the operator's listener (ADMIN_HOST, ADMIN_PORT).
A database that a demo was made in is refused.

Beyond this machine it listens only where a proxy that speaks TLS stands before it (ROLLCALL_BEHIND_TLS_PROXY=1).

Example: HOST=0.0.0.0 ROLLCALL_BEHIND_TLS_PROXY=1 ROLLCALL_PUBLIC_URL=https://registry.example.org rollcall serve`,
    )
    .action(runServe)
}

async function runServe(options: OutputOptions): Promise<void> {
  const stop = stopRequest()
  const config = configuration()
  refusePlainHttp(config)
  const storage = await openStorage(config)
  try {
    await prepare(storage.db)
    if (!stop.signal.aborted) await serveUntil(stop.asked, config, storage.db, options)
  } finally {
    await storage.close()
  }
}

/** @throws CommandError messages, tokens and secrets would cross a network that others read */
function refusePlainHttp({ host, behindTlsProxy }: Config): void {
  if (behindTlsProxy || isLoopback(host)) return
  throw new CommandError(
    `HOST is ${host}, where peers would be answered in plain HTTP: put a proxy that speaks TLS before it, ` +
      'and say so with ROLLCALL_BEHIND_TLS_PROXY=1',
  )
}

/** Nothing is migrated in a database that is then refused. */
async function prepare(db: Database): Promise<void> {
  await refuseDemoData(db)
  await migrate(db)
  for (const registry of await listRegistries(db)) await ensureRecordTables(db, registry)
}

async function serveUntil(
  asked: Promise<void>,
  config: Config,
  db: Database,
  options: OutputOptions,
): Promise<void> {
  const { server, log } = await startListening(config, db)
  try {
    server.markReady()
    const url = baseUrl(config, server.port)
    const admin_url = listenerUrl(config.adminHost, server.adminPort)
    print(options, { url, admin_url }, `Rollcall listens on ${url}, for its operator on ${admin_url}`)
    await asked
    log.info('stopping')
  } finally {
    await server.stop()
  }
}

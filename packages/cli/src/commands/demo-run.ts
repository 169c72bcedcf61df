/** Runs the demo until it is asked to stop. */
import { dirname } from 'node:path'
import { NO_APPROVAL_NEEDED } from '@rollcall/admin/act'
import { migrateDatabase } from '@rollcall/admin/database'
import { refuseRealData, refuseSecondDemo } from '@rollcall/admin/demo/demo-database'
import { fillEmptyRegistries } from '@rollcall/admin/demo/demo-directory'
import { isLoopback } from '@rollcall/base/shared/loopback'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { baseUrl, listenerUrl } from '@rollcall/settings/addresses'
import type { Config } from '@rollcall/settings/config'
import { openAuditLog, openStorage, openVault } from '@rollcall/settings/storage'
import { keepOrMakeDemoCredentials, makeDemoOperatorToken, makeDemoSignInLink } from '../demo/credentials.ts'
import { type DemoFile, demoFilePath, makeDemoFileContent, readParticipants, writePrivateFile } from '../demo/demo-file.ts'
import { applyDemoConfiguration } from '../demo/directory.ts'
import { greetingText } from '../demo/greeting.ts'
import { createDemoReceiver, findEarlierReceiverPort, RECEIVER_PATH, setDemoCallback } from '../demo/receiver.ts'
import { demoContentOf } from '../demo/showcase.ts'
import { createDemoSimulation } from '../demo/simulation.ts'
import { startDemoPage } from '../demo/switches.ts'
import { readConfiguration } from '../environment.ts'
import { refuseTakenPorts, startListening } from '../listen.ts'
import { type OutputOptions, printResult } from '../output.ts'
import type { StopRequest } from '../stop.ts'
import { DEMO_RECORD_COUNT, syntheticRecords } from '../synthetic-people.ts'

const LOOPBACK_ADDRESS = '127.0.0.1'

export interface DemoOptions extends OutputOptions {
  readonly receiver: boolean
}

export async function runDemo(stop: StopRequest, options: DemoOptions): Promise<void> {
  // A demo may make its own master key (`masterKeyInFile`) and does all work of a server (`role`). It has no load balancer, so it
  // does not wait for one when it stops (`drain_time`).
  const read = limitToLoopback(readConfiguration())
  const limits = { ...read.limits, drain_time: 0 }
  const partnerPage = process.env.ROLLCALL_PARTNER_PAGE !== '0'
  const config = { ...read, limits, partnerPage, masterKeyInFile: true, role: 'all' as const }
  await refuseTakenPorts(config)
  if (stop.signal.aborted) return
  const storage = await openStorage(config).catch((error: unknown) => {
    // Ctrl-C in a terminal also ends PostgreSQL, and the database cannot be opened. That is no failure: the demo just ends.
    if (stop.signal.aborted) return null
    throw error
  })
  if (storage === null) return
  try {
    await refuseRealData(storage.owner)
    const release = await refuseSecondDemo(storage.owner, demoFilePath(config))
    try {
      await migrateDatabase(storage, {})
      if (!stop.signal.aborted) await runWithAuditLog(stop, config, storage.db, options)
    } finally {
      await release()
    }
  } finally {
    await storage.close()
  }
}

/**
 * Returns a configuration with which the demo listens on this machine only, unless ROLLCALL_DEMO_REMOTE=1: the demo's pages
 * show its client secret, so others may have seen the secret on a screen. Many systems set HOST for other purposes, so an address
 * for other machines is reported and not used.
 */
function limitToLoopback(config: Config): Config {
  if (process.env.ROLLCALL_DEMO_REMOTE === '1') return config
  for (const [variable, value] of Object.entries({ HOST: config.host, ADMIN_HOST: config.adminHost })) {
    if (isLoopback(value)) continue
    process.stderr.write(
      `${variable} is ${value}; the demo listens on ${LOOPBACK_ADDRESS} only; ROLLCALL_DEMO_REMOTE=1 permits it\n`,
    )
  }
  const { host, adminHost } = config
  return {
    ...config,
    host: isLoopback(host) ? host : LOOPBACK_ADDRESS,
    adminHost: isLoopback(adminHost) ? adminHost : LOOPBACK_ADDRESS,
  }
}

async function runWithAuditLog(stop: StopRequest, config: Config, db: Database, options: DemoOptions): Promise<void> {
  const auditLog = openAuditLog(config, db)
  try {
    await runDemoServer(
      stop,
      config,
      { db, vault: () => openVault(config, db), auditLog, caller: DEMO_CALLER, approvals: NO_APPROVAL_NEEDED },
      options,
    )
  } finally {
    await auditLog.close()
  }
}

const DEMO_CALLER = { kind: 'demo' } as const

type DemoActDeps = Parameters<typeof applyDemoConfiguration>[0]

async function runDemoServer(stop: StopRequest, config: Config, deps: DemoActDeps, options: DemoOptions): Promise<void> {
  const { db } = deps
  const { registries, secrets, ...participants } = await applyDemoConfiguration(deps)
  // The server listens before the registries are filled, which takes long. It is ready only after `markReady`.
  const { server } = await startListening(config, db)
  const simulation = createDemoSimulation()
  let switches: Awaited<ReturnType<typeof startDemoPage>> | null = null
  try {
    await fillRegistries(db, registries)
    if (stop.signal.aborted) return
    const path = demoFilePath(config)
    const written = await readParticipants(path)
    const credentials = (name: 'participant' | 'restricted') => {
      const { [name]: participant } = participants
      const client_secret = secrets.get(participant.sender_id)
      return keepOrMakeDemoCredentials(deps, participant, { ...written[name], ...(client_secret && { client_secret }) })
    }
    const [participant, restricted] = [await credentials('participant'), await credentials('restricted')]
    const base_url = baseUrl(config, server.port)
    const admin = { base_url: listenerUrl(config.adminHost, server.adminPort), token: await makeDemoOperatorToken(deps) }
    const demo = await makeDemoFileContent(db, { base_url, participant, restricted, admin, registries })
    await writePrivateFile(path, `${JSON.stringify(demo, null, 2)}\n`)
    const { sender_id } = participant
    const here = listenerUrl(config.host, server.port)
    const receiver = options.receiver ? createDemoReceiver({ ...demo, base_url: here }) : null
    switches = await startDemoPage({ demo, receiver, simulation }, await findEarlierReceiverPort(deps, sender_id))
    await setDemoCallback(deps, sender_id, receiver && `${switches.url}${RECEIVER_PATH}`)
    const { url: demoPage } = switches
    const data = process.env.ROLLCALL_DATA ? dirname(path) : null
    const place = { data, port: server.port, adminPort: server.adminPort }
    server.show(demoContentOf(demo, demoPage, place))
    server.markReady()
    const link = await makeDemoSignInLink(deps, admin.base_url)
    printResult(options, demoSummary(demo, path), greetingText(demo, { path, link, place, demoPage }))
    await stop.asked
  } finally {
    await simulation.close()
    await server.stop()
    // The listener of the demo page is closed last: it also receives callbacks, and a server that stops still sends some.
    await switches?.close()
  }
}

async function fillRegistries(db: Database, registries: readonly Registry[]): Promise<void> {
  const filled = await fillEmptyRegistries(db, registries, { count: DEMO_RECORD_COUNT, make: syntheticRecords })
  if (filled.length > 0) process.stderr.write(`${DEMO_RECORD_COUNT} records each went into ${filled.join(', ')}\n`)
}

/** The addresses of the demo for --json, without the secret. */
function demoSummary({ base_url, token_url, registries }: DemoFile, demo_file: string): object {
  return { base_url, token_url, demo_file, namespaces: registries.map(({ namespace }) => namespace) }
}

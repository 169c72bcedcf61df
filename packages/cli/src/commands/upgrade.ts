/** `rollcall upgrade`: replaces the node in use by one of another version while the service goes on. */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { knownSchemaVersions } from '@rollcall/database/schema-version'
import type { Command } from 'commander'
import { CommandError } from '../failure.ts'
import { replaceFile, runProgramQuietly } from '../machine/acts.ts'
import { checkPackageAndRootUser, waitUntilReady } from '../machine/checks.ts'
import { findFileText, portOfNodeInUse } from '../machine/facts.ts'
import { nginxSiteWithPort } from '../machine/files.ts'
import { BACKUP_FOLDER, CODE_FOLDER, NGINX_SITE, NODE_PORTS, ROLLCALL_COMMAND_PATH } from '../machine/places.ts'
import { isLaterVersion, planUpgrade, type UpgradePlan } from '../machine/plan-upgrade.ts'
import { makeProgressPrinter, printResult } from '../output.ts'

export function addCommand(program: Command): void {
  program
    .command('upgrade')
    .description('put the installed version into use while the service goes on; the Debian package has it')
    .option('--back', 'go back to the version that ran before')
    .option('--dry-run', 'say what would be done; nothing is changed')
    .option('--json', 'print JSON for machines')
    .addHelpText(
      'after',
      `
Install the package of the new version first: apt-get install ./rollcall_0.2.0_amd64.deb stops nothing. The upgrade makes a
backup, upgrades the tables, starts the new node beside the old one, moves nginx when it is ready, and stops the old one.
If something fails, the old node goes on. --back does the same in the other direction, with the tables as they are.

Example: rollcall upgrade --dry-run`,
    )
    .action(runUpgrade)
}

interface UpgradeOptions {
  readonly back?: boolean
  readonly dryRun?: boolean
  readonly json?: boolean
}

async function runUpgrade({ back = false, dryRun = false, json = false }: UpgradeOptions): Promise<void> {
  checkPackageAndRootUser()
  const say = makeProgressPrinter({ json })
  const printJson = (version: string | null, steps: readonly UpgradeStep[]): void => {
    if (json) printResult({ json }, { dry_run: dryRun, version, steps: steps.map(({ text }) => text) }, '')
  }
  const move = planUpgrade({
    port: portOfNodeInUse(),
    versions: new Map(NODE_PORTS.map((port) => [port, findNodeVersion(port)])),
    installed: readFileSync(`${CODE_FOLDER}/package/VERSION`, 'utf8').trim(),
    schemas: knownSchemaVersions(),
    back,
  })
  if (typeof move === 'string') throw new CommandError(move)
  if (move === null) {
    say(`Version ${findNodeVersion(portOfNodeInUse())} is in use: nothing is to be done.`)
    if (!dryRun) {
      await moveNginxBack(portOfNodeInUse())
      stopNodesOnOtherPorts(portOfNodeInUse())
    }
    printJson(findNodeVersion(portOfNodeInUse()), [])
    return
  }
  if (!existsSync(`${CODE_FOLDER}/${move.to}`))
    throw new CommandError(`the files of version ${move.to} are not in ${CODE_FOLDER}`)
  const site = findFileText(NGINX_SITE)
  if (site === null) {
    throw new CommandError(`${NGINX_SITE} is not there: with another proxy, replace the nodes as docs/upgrade.md says`)
  }
  const steps = upgradeSteps(move, site)
  if (dryRun) {
    for (const { text } of steps) say(text)
    say('A dry run: nothing is changed.')
    printJson(move.to, steps)
    return
  }
  for (const { text, act } of steps) {
    say(text)
    await act()
  }
  say(`Version ${move.to} is in use.`)
  printJson(move.to, steps)
}

interface UpgradeStep {
  readonly text: string
  readonly act: () => void | Promise<void>
}

/** The steps of an upgrade. @param site the nginx configuration; after an interrupted upgrade it may name the next node's port */
export function upgradeSteps({ from, to, port, next }: UpgradePlan, site: string): readonly UpgradeStep[] {
  const steps: UpgradeStep[] = []
  const step = (text: string, act: UpgradeStep['act']): void => void steps.push({ text, act })
  const unit = `rollcall@${next}`
  if (nginxSiteWithPort(site, port) !== site) {
    step(`give nginx back to rollcall@${port}: an upgrade was interrupted`, () => moveNginxBack(port))
  }
  step(`prepare ${unit} with version ${to}`, () => {
    // An upgrade that was killed may have left a node running on the port `next`.
    spawnSync('systemctl', ['stop', unit])
    replaceLink(to, `${CODE_FOLDER}/node-${next}`)
  })
  if (isLaterVersion(to, from)) {
    const file = `${BACKUP_FOLDER}/before-${to}-${new Date().toISOString().replace(/\W/g, '')}.backup`
    step(`make the backup ${file}`, () => runProgramQuietly([ROLLCALL_COMMAND_PATH, 'backup', file]))
    step('upgrade the tables', () => runProgramQuietly([ROLLCALL_COMMAND_PATH, 'migrate']))
  }
  step(`start ${unit}, and wait until it is ready`, async () => {
    runProgramQuietly(['systemctl', 'start', unit])
    try {
      await waitUntilReady(`http://127.0.0.1:${next + 1}/ready`, { unit })
    } catch (error) {
      spawnSync('systemctl', ['stop', unit])
      throw error
    }
  })
  let former: readonly string[] = []
  step('move nginx to it', () => {
    former = nginxWorkerPaths()
    pointNginxToPort(next)
  })
  step(`let it start with the machine, and give it the commands`, () => {
    runProgramQuietly(['systemctl', 'enable', unit])
    replaceLink(`node-${next}`, `${CODE_FOLDER}/current`)
  })
  step(`stop rollcall@${port} when its requests are answered`, async () => {
    await waitUntilProcessesEnd(former)
    stopNodesOnOtherPorts(next)
  })
  step('delete versions that are neither in use nor the one before', () => {
    const kept = [from, to, readFileSync(`${CODE_FOLDER}/package/VERSION`, 'utf8').trim()]
    for (const name of globSync('[0-9]*', { cwd: CODE_FOLDER })) {
      if (!kept.includes(name)) rmSync(`${CODE_FOLDER}/${name}`, { recursive: true })
    }
  })
  return steps
}

const findNodeVersion = (port: number): string | null => {
  try {
    return readlinkSync(`${CODE_FOLDER}/node-${port}`)
  } catch {
    return null
  }
}

/** Points a symbolic link at another target in one step. The folder must be one in which only root writes. */
function replaceLink(target: string, path: string): void {
  rmSync(`${path}.part`, { force: true })
  symlinkSync(target, `${path}.part`)
  renameSync(`${path}.part`, path)
}

/** Makes nginx send requests to the node on `port`. If nginx refuses the new configuration, the former one is written again. */
function pointNginxToPort(port: number): void {
  const before = findFileText(NGINX_SITE) ?? ''
  replaceFile(NGINX_SITE, nginxSiteWithPort(before, port), 0o644)
  try {
    runProgramQuietly(['nginx', '-t'])
    runProgramQuietly(['systemctl', 'reload', 'nginx'])
  } catch (error) {
    replaceFile(NGINX_SITE, before, 0o644)
    throw error
  }
}

/** Moves nginx back to the node in use, if an interrupted upgrade has moved it. @throws CommandError that node is not ready */
async function moveNginxBack(port: number): Promise<void> {
  const site = findFileText(NGINX_SITE)
  if (site === null || nginxSiteWithPort(site, port) === site) return
  await waitUntilReady(`http://127.0.0.1:${port + 1}/ready`, { unit: `rollcall@${port}`, tries: 20 })
  const former = nginxWorkerPaths()
  pointNginxToPort(port)
  await waitUntilProcessesEnd(former)
}

/** Lists the paths in /proc of the worker processes of nginx. */
const nginxWorkerPaths = (): readonly string[] =>
  globSync('/proc/[0-9]*/cmdline').filter((path) => (findFileText(path) ?? '').startsWith('nginx: worker process'))

/** Waits until the former workers of nginx have answered their requests and ended. Returns after half a minute in any case. */
async function waitUntilProcessesEnd(processes: readonly string[]): Promise<void> {
  for (let tries = 0; tries < 60 && processes.some((path) => existsSync(path)); tries += 1) await sleep(500)
}

function stopNodesOnOtherPorts(port: number): void {
  for (const other of NODE_PORTS.filter((one) => one !== port)) {
    runProgramQuietly(['systemctl', 'disable', '--now', `rollcall@${other}`])
  }
}

/** `rollcall setup`: makes a machine with the Debian package a registry in production. */
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { CommandError } from '../failure.ts'
import { doPlannedAct } from '../machine/acts.ts'
import { type Answers, askAnswers, readAnswers } from '../machine/answers.ts'
import { checkPackageAndRootUser, runForOutput, waitUntilReady } from '../machine/checks.ts'
import { checkBeforeSetup, findFileText, portOfNodeInUse, readSetupFacts } from '../machine/facts.ts'
import { ANSWERS_FILE } from '../machine/files.ts'
import { COPY_KEY_FILE, ROLLCALL_COMMAND_PATH, SECRET_FILES } from '../machine/places.ts'
import { makeSetupPlan, plannedActText } from '../machine/plan.ts'
import { makeProgressPrinter, printLine, printResult, tableText } from '../output.ts'
import { readYaml } from '../yaml.ts'

export function addCommand(program: Command): void {
  program
    .command('setup')
    .description('make this machine a registry in production: database, secrets, units, nginx; the Debian package has it')
    .option('--answers <file>', 'a file with the answers, in YAML: nothing is asked')
    .option('--restore <backup>', 'fill the new database from this backup; the master key is in its file already')
    .option('--dry-run', 'say what would be done; nothing is written')
    .option('--json', 'print JSON for machines; it needs --answers')
    .addHelpText(
      'after',
      `
It asks for what only a person knows, says what it will do, and asks again before it does it. It can be run again: it
does only what differs. Answers: name, kind, namespace, sender_id, certificate (files, certbot or csr),
certificate_file, key_file, authority_file, contact, witness and copies (an address, or later) and operator.
docs/small-registry.md has an example.

Example: rollcall setup --answers answers.yaml --dry-run`,
    )
    .action(runSetup)
}

interface SetupOptions {
  readonly answers?: string
  readonly restore?: string
  readonly dryRun?: boolean
  readonly json?: boolean
}

async function runSetup(options: SetupOptions): Promise<void> {
  checkPackageAndRootUser()
  const { json = false, dryRun = false } = options
  if (json && options.answers === undefined) throw new CommandError('--json asks no questions: name a file with --answers')
  const say = makeProgressPrinter(options)
  const answers = await readSetupAnswers(options)
  const found = await checkBeforeSetup(answers)
  say(
    tableText(
      ['check', 'state', 'advice'],
      found.map((one) => ({ ...one })),
      '',
    ),
  )
  if (found.some(({ state }) => state === 'broken'))
    throw new CommandError('nothing was changed: mend what is broken above first')
  const { acts, waits } = planSetup(answers, options.restore)
  say(
    acts.length === 0
      ? '\nNothing differs: nothing is to be done.'
      : `\nTo do:\n${acts.map((act) => `  ${plannedActText(act)}`).join('\n')}`,
  )
  if (dryRun) {
    say('A dry run: nothing is changed.')
    if (json) printResult(options, { dry_run: true, acts: acts.map(plannedActText), waits_for: waits }, '')
    return
  }
  if (acts.length > 0 && options.answers === undefined) await requireConfirmation()
  for (const act of acts) {
    say(plannedActText(act))
    doPlannedAct(act)
  }
  // A new certificate changes the plan of the remaining acts.
  const rest = answers.certificate === 'certbot' && acts.length > 0 ? planSetup(answers) : { acts: [], waits }
  for (const act of rest.acts) {
    say(plannedActText(act))
    doPlannedAct(act)
  }
  const done = [...acts, ...rest.acts].map(plannedActText)
  if (json) printResult(options, { dry_run: false, acts: done, waits_for: rest.waits }, '')
  if (rest.waits !== null) {
    say(`\nNot done yet: ${rest.waits}`)
    process.exitCode = 1
    return
  }
  await finishSetup(answers, say)
}

const planSetup = (answers: Answers, restore?: string) => {
  try {
    return makeSetupPlan(answers, readSetupFacts(answers), restore)
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(error instanceof Error ? error.message : String(error))
  }
}

/**
 * Reads the answers from the file, or asks the person at the terminal and proposes the last answers. A dry run that has neither a
 * file nor a terminal takes the last answers.
 */
async function readSetupAnswers({ answers: file, dryRun = false }: SetupOptions): Promise<Answers> {
  const before = JSON.parse(findFileText(ANSWERS_FILE) ?? '{}') as Partial<Answers>
  if (file !== undefined) return readAnswers((await readYaml(file, '--answers')).value, before)
  if (process.stdin.isTTY !== true) {
    if (dryRun && existsSync(ANSWERS_FILE)) return readAnswers({}, before)
    throw new CommandError('questions need a terminal: without one, name a file with --answers')
  }
  const asking = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return await askAnswers((question) => asking.question(question), printLine, before)
  } finally {
    asking.close()
  }
}

async function requireConfirmation(): Promise<void> {
  const asking = createInterface({ input: process.stdin, output: process.stdout })
  const ended = new Promise<string>((resolve) => asking.once('close', () => resolve('')))
  const answer = await Promise.race([asking.question('Do it? Type yes: '), ended])
  asking.close()
  if (answer.trim() !== 'yes') throw new CommandError('nothing is changed')
}

const COPY_LATER_ADVICE = 'Name another machine for copies of the backups and the journal: run rollcall setup again.'

/**
 * Waits until the node is ready at the public host name, with TLS and through nginx. Then prints what `rollcall doctor` finds,
 * a link to the console, and the next steps.
 */
async function finishSetup({ name, authority_file, copies, operator }: Answers, say: (line: string) => void): Promise<void> {
  await waitUntilReady(`https://${name}/ready`, { unit: `rollcall@${portOfNodeInUse()}`, authority_file })
  say(`\nhttps://${name}/ready answers through nginx.\n`)
  say(runForOutput(ROLLCALL_COMMAND_PATH, 'doctor'))
  say(`The console, for ${operator}, once and within 15 minutes (forward its port first, docs/console.md):`)
  say(runForOutput(ROLLCALL_COMMAND_PATH, 'operator', 'link', operator))
  say(`Next:
  1. Copy ${SECRET_FILES.master_key} to a safe place away from this machine: without it a backup is worth nothing.
  2. Import your records, and give the first system access: docs/small-registry.md, "The registry".
  3. ${copies === 'later' ? COPY_LATER_ADVICE : `Let ${copies} accept this key, as docs/small-registry.md shows:\n     ${findFileText(`${COPY_KEY_FILE}.pub`)?.trim()}`}`)
}

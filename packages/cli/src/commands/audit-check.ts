/** `rollcall audit check`: verifies evidence of audit entries, without a database. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { verifyEvidence } from '@rollcall/admin/audit/evidence-check'
import { systemReason } from '@rollcall/base/shared/system-error'
import { parseJson } from '@rollcall/protocol'
import type { Command } from 'commander'
import { CommandError } from '../failure.ts'
import { readFileOrStdin } from '../input.ts'
import { countWithNoun, type OutputOptions, printResult, withJsonOption } from '../output.ts'

export function defineCommand(command: Command): void {
  withJsonOption(command)
    .argument('<file>', 'the evidence; - for standard input')
    .option('--kid <kid>', 'the key that must have signed it, as the registry has published it')
    .option('--message <file>', 'a message: one that the evidence names must have these bytes')
    .addHelpText('after', '\nExit codes: 0 it holds, 1 it does not.\n\nExample: rollcall audit check evidence.json --kid a1b2c3')
    .action(runCheck)
}

interface CheckOptions extends OutputOptions {
  readonly kid?: string
  readonly message?: string
}

async function runCheck(file: string, { kid, message, ...options }: CheckOptions): Promise<void> {
  const text = await readFileOrStdin(file)
  const evidence = readEvidence(text, file)
  const checked = await verifyEvidence({}, { evidence, kid })
  if (message !== undefined) await checkMessageInEvidence(message, checked)
  const lines = checked.accounts.map((entry) => {
    const { at, kind, participant, registry, operation, records, request, reply } = entry
    return [
      `${at}  ${kind}  ${participant ?? '-'} in ${registry ?? '-'}: ${operation ?? '-'}, ${countWithNoun(records, 'record')}`,
      ...messageText('request', request),
      ...messageText('reply', reply),
    ].join('\n')
  })
  const keys = `signed with ${checked.kids.join(', ')}${kid === undefined ? ': compare it with the key that the registry has published' : ''}`
  printResult(options, checked, [...lines, keys, 'the evidence holds'].join('\n'))
}

type VerifiedEvidence = Awaited<ReturnType<typeof verifyEvidence>>
type EvidenceMessage = VerifiedEvidence['accounts'][number]['request']

const messageText = (name: string, message: EvidenceMessage): readonly string[] =>
  message === null
    ? []
    : [
        `  ${name} ${message.message_id ?? '-'}  SHA-256 ${message.digest}  ${message.kid === null ? 'unsigned' : `signed with ${message.kid}`}`,
      ]

/** Reads evidence as JSON. @throws CommandError */
function readEvidence(text: string, file: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    throw new CommandError(`${file}: ${error instanceof Error ? error.message : 'no JSON'}`)
  }
}

/** Checks that the message in the file belongs to the evidence, by the SHA-256 of the file. @throws CommandError it does not */
async function checkMessageInEvidence(file: string, { accounts }: VerifiedEvidence): Promise<void> {
  const sum = createHash('sha256')
  await pipeline(createReadStream(file), sum).catch((error: unknown) => {
    throw new CommandError(`the file ${file} of --message cannot be read: ${systemReason(error)}`)
  })
  const digest = sum.digest('hex')
  if (accounts.some(({ request, reply }) => request?.digest === digest || reply?.digest === digest)) return
  throw new CommandError(`${file}: no message of the evidence has these bytes`)
}

/** `rollcall enrolled`: asks a registry whether a person is enrolled. */
import { type EnrolmentQuestion, RegistryClient } from '@rollcall/client'
import { kindNamed, resolveIdentifierType } from '@rollcall/protocol'
import type { Command } from 'commander'
import { callClient, makeClient } from '../asking/failures.ts'
import { addRegistryOptions, type RegistryOptions } from '../asking/registry-options.ts'
import { readRegistryTarget } from '../asking/target.ts'
import { CommandError } from '../failure.ts'
import { type OutputOptions, printResult, withJsonOption } from '../output.ts'
import { listenForStop } from '../stop.ts'
import { readTypeAndValue } from '../values.ts'

export function addCommand(program: Command): void {
  const command = program
    .command('enrolled')
    .description('ask a registry whether a person is enrolled')
    .argument('[namespace]', 'a registry of the demo on this machine (or --url)')
    .requiredOption('--person <type=value>', 'an identifier of the person, such as UIN=8128560370')
    .option('--programme <identifier>', 'only in this programme (default: in any)')
    .option('--status', 'ask an employment support system for the status of the person')
  withJsonOption(addRegistryOptions(command))
    .addHelpText(
      'after',
      `
The answer is yes or no, with --status a label such as Active. An unknown person is not enrolled. A UIN is sent as
person_identifier, by which every registry can be asked; another type is sent by its name, so that the registry answers
about an identifier of this type only. The other options are those of rollcall search.

Example: rollcall enrolled ibr --person UIN=8128560370 --programme PRG-07
Example: rollcall enrolled ibr --person NID=93118204771
Example: rollcall enrolled ess --person UIN=8128560370 --status`,
    )
    .action(runEnrolled)
}

interface EnrolledOptions extends RegistryOptions, OutputOptions {
  readonly person: string
  readonly programme?: string
  readonly status?: true
}

async function runEnrolled(namespace: string | undefined, options: EnrolledOptions): Promise<void> {
  const { signal } = listenForStop()
  const { programme, status } = options
  const person = readEnrolledPerson(options.person, status === true ? 'ess' : 'ibr')
  if (status === true && programme !== undefined) {
    throw new CommandError('--status cannot be combined with --programme')
  }
  const { client } = await readRegistryTarget({ ...options, ...(namespace !== undefined && { registry: namespace }) })
  const asking = makeClient(() => new RegistryClient(client))
  if (status === true) {
    const label = await callClient(asking.checkEnrolment(person, { signal }), signal)
    printResult(options, { status: label }, label)
    return
  }
  const question = { ...person, ...(programme !== undefined && { programme }) }
  const enrolled = await callClient(asking.enrolled(question, { signal }), signal)
  printResult(options, { enrolled }, enrolled ? 'yes' : 'no')
}

/**
 * Reads a person from `TYPE=VALUE`. A primary identifier gets no `identifier_type`: the client then sends its value as
 * `person_identifier`.
 */
export function readEnrolledPerson(text: string, kindName: 'ess' | 'ibr'): Pick<EnrolmentQuestion, 'person' | 'identifier_type'> {
  const { type, value } = readTypeAndValue(text, '--person')
  const kind = kindNamed(kindName)
  const found = kind && resolveIdentifierType(kind, type)
  const isPrimary = kind?.record_types.some(({ primary_identifier }) => primary_identifier === found?.name)
  return { person: value, ...(!isPrimary && { identifier_type: type }) }
}

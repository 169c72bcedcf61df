/** Facts that only a person knows: the questions of `rollcall setup` and their answers. */
import { isIP } from 'node:net'
import { nearestNameHint } from '@rollcall/base/shared/message-words'
import { KINDS } from '@rollcall/protocol'
import { CommandError } from '../failure.ts'

export const CERTIFICATE_SOURCES = ['files', 'certbot', 'csr'] as const

export type Answers = Readonly<Record<AnswerName, string>>
export type AnswerName =
  | 'name'
  | 'kind'
  | 'namespace'
  | 'sender_id'
  | 'certificate'
  | 'certificate_file'
  | 'key_file'
  | 'authority_file'
  | 'contact'
  | 'witness'
  | 'copies'
  | 'operator'

interface SetupQuestion {
  readonly ask: string
  /** Returns the answer that is proposed; null when a person must give one. */
  readonly otherwise: (answers: Partial<Answers>) => string | null
  /** Returns whether to ask this question (default: always). */
  readonly when?: (answers: Partial<Answers>) => boolean
  /** Returns the rule that an answer breaks; null for a good answer. */
  readonly problem: (value: string) => string | null
}

const HOST_NAME_PATTERN = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/
const WITNESS_ANSWER_PATTERN = /^(?:later|syslog(?:\+tcp)?:\/\/[\w.:[\]-]+:\d{1,5})$/
const COPIES_ANSWER_PATTERN = /^(?:later|[a-z0-9][\w.-]*@[A-Za-z0-9][\w.-]*:[\w./-]+)$/

const makePatternRule =
  (form: RegExp, example: string) =>
  (value: string): string | null =>
    form.test(value) ? null : `must be such as ${example}`
const makeChoiceRule =
  (values: readonly string[]) =>
  (value: string): string | null =>
    values.includes(value) ? null : `must be one of ${values.join(', ')}${nearestNameHint(value, values)}`
const findPathProblem = (value: string): string | null =>
  value === '' || /^\/[\w./@+-]+$/.test(value) ? null : 'must be the whole path of a file'

/** The questions, in their order. `certificate` is before the questions that depend on its answer. */
export const SETUP_QUESTIONS: Readonly<Record<AnswerName, SetupQuestion>> = {
  name: {
    ask: 'Public name of this machine, as other systems will reach it',
    otherwise: () => null,
    problem: (value) =>
      isIP(value) === 0 && HOST_NAME_PATTERN.test(value) ? null : 'must be a name in small letters, such as registry.example.org',
  },
  kind: {
    ask: `Kind of the registry (${KINDS.map(({ name }) => name).join(', ')})`,
    otherwise: () => 'civil',
    problem: makeChoiceRule(KINDS.map(({ name }) => name)),
  },
  namespace: {
    ask: 'Namespace of the registry, the first part of its addresses',
    otherwise: ({ kind = 'civil' }) => kind,
    problem: makePatternRule(/^[a-z][a-z0-9_-]{0,62}$/, 'civil'),
  },
  sender_id: {
    ask: 'Id of the registry in messages',
    otherwise: ({ namespace = '', name = '' }) => `${namespace}.${name}`,
    problem: makePatternRule(/^[\w.:/-]{1,200}$/, 'civil.example.org'),
  },
  certificate: {
    ask: 'Certificate: files (you have it), certbot (it gets one), csr (your authority signs a request)',
    otherwise: () => 'files',
    problem: makeChoiceRule(CERTIFICATE_SOURCES),
  },
  certificate_file: {
    ask: 'File of the certificate, with those between it and its authority',
    otherwise: ({ certificate, name = '' }) =>
      certificate === 'certbot'
        ? `/etc/letsencrypt/live/${name}/fullchain.pem`
        : certificate === 'csr'
          ? '/etc/rollcall/tls.pem'
          : '/etc/ssl/certs/registry.pem',
    when: ({ certificate }) => certificate === 'files',
    problem: findPathProblem,
  },
  key_file: {
    ask: 'File of its key',
    otherwise: ({ certificate, name = '' }) =>
      certificate === 'certbot'
        ? `/etc/letsencrypt/live/${name}/privkey.pem`
        : certificate === 'csr'
          ? '/etc/rollcall/tls.key'
          : '/etc/ssl/private/registry.key',
    when: ({ certificate }) => certificate === 'files',
    problem: findPathProblem,
  },
  authority_file: {
    ask: 'File of your own authority, if this machine does not trust it yet',
    otherwise: () => '',
    when: ({ certificate }) => certificate !== 'certbot',
    problem: findPathProblem,
  },
  contact: {
    ask: 'Address of mail to which the authority of certificates writes',
    otherwise: ({ certificate }) => (certificate === 'certbot' ? null : ''),
    when: ({ certificate }) => certificate === 'certbot',
    problem: (value) => (value === '' || /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/.test(value) ? null : 'must be an address of mail'),
  },
  witness: {
    ask: 'Witness: a log server that the administrators of the database cannot write to, or "later"',
    otherwise: () => 'later',
    problem: makePatternRule(WITNESS_ANSWER_PATTERN, 'syslog+tcp://log.example.org:601, or later'),
  },
  copies: {
    ask: 'Another machine to which backups and the journal are copied over SSH, or "later"',
    otherwise: () => 'later',
    problem: makePatternRule(COPIES_ANSWER_PATTERN, 'copies@vault.example.org:rollcall, or later'),
  },
  operator: {
    ask: 'Your name as the first operator of the console',
    otherwise: () => {
      const named = process.env.ROLLCALL_SHELL_USER ?? ''
      return named === '' ? 'root' : named
    },
    problem: makePatternRule(/^[\w.@-]{1,100}$/, 'amina'),
  },
}

const ANSWER_NAMES = Object.keys(SETUP_QUESTIONS) as AnswerName[]

/** The names of the answers that depend on the answer `certificate`. */
const CERTIFICATE_ANSWER_NAMES: readonly AnswerName[] = ['certificate_file', 'key_file', 'authority_file', 'contact']

/**
 * Returns the last setup's answer, or else the default; null when a person must answer. An answer that depends on `certificate`
 * is taken from the last setup only when `certificate` has not changed.
 * @param before answers of the last setup
 */
function findProposedAnswer(member: AnswerName, answers: Partial<Answers>, before: Partial<Answers>): string | null {
  const isOther = CERTIFICATE_ANSWER_NAMES.includes(member) && before.certificate !== answers.certificate
  return (isOther ? undefined : before[member]) ?? SETUP_QUESTIONS[member].otherwise(answers)
}

/** Checks an answer. @throws CommandError, which names the member and its rule */
function requireGoodAnswer(member: AnswerName, value: string): string {
  const problem = SETUP_QUESTIONS[member].problem(value)
  if (problem !== null) throw new CommandError(`${member} ${problem}`)
  return value
}

/**
 * Reads the answers of a file, and completes them by defaults.
 * @param file content of the file
 * @param before answers of the last setup; members of the file override them
 * @throws CommandError, which names the first member that is unknown, wrong, or missing without a default
 */
export function readAnswers(file: unknown, before: Partial<Answers> = {}): Answers {
  if (typeof file !== 'object' || file === null || Array.isArray(file)) {
    throw new CommandError('the file of --answers must be a map of names and values')
  }
  const unknown = Object.keys(file).find((name) => !ANSWER_NAMES.some((member) => member === name))
  if (unknown !== undefined) {
    throw new CommandError(`the file of --answers has the unknown member ${unknown}${nearestNameHint(unknown, ANSWER_NAMES)}`)
  }
  const answers: Partial<Record<AnswerName, string>> = {}
  const given = file as Readonly<Record<string, unknown>>
  for (const member of ANSWER_NAMES) {
    const value = given[member] ?? findProposedAnswer(member, answers, before)
    if (value === null) throw new CommandError(`the file of --answers lacks ${member}`)
    answers[member] = requireGoodAnswer(member, String(value))
  }
  return answers as Answers
}

/** Asks each question that applies, and repeats a question after a wrong answer. */
export async function askAnswers(
  ask: (question: string) => Promise<string>,
  say: (line: string) => void,
  before: Partial<Answers> = {},
): Promise<Answers> {
  const answers: Partial<Record<AnswerName, string>> = {}
  for (const member of ANSWER_NAMES) {
    const { ask: text, when, problem } = SETUP_QUESTIONS[member]
    const proposed = findProposedAnswer(member, answers, before)
    if (when !== undefined && !when(answers)) {
      answers[member] = proposed ?? ''
      continue
    }
    for (;;) {
      const answer = (await ask(`${text}${proposed === null ? '' : ` [${proposed}]`}: `)).trim()
      const value = answer === '' ? (proposed ?? '') : answer
      const wrong = problem(value)
      if (wrong === null) {
        answers[member] = value
        break
      }
      say(`It ${wrong}.`)
    }
  }
  return answers as Answers
}

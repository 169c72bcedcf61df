/** Checks applications: asks the registries, and decides. */
import type { Application } from './applications.ts'
import type { Ask } from './ask.ts'
import { type Decision, decide } from './programme.ts'
import { type Answers, criteriaFor, QUESTION_NAMES, QUESTIONS, type QuestionName, type RegistryName } from './questions.ts'

export interface Checked extends Decision {
  readonly application: string
}

const REGISTRIES: readonly RegistryName[] = ['civil', 'social', 'ibr']

/** All registries are asked at the same time, each with one batch. */
export async function check(ask: Ask, applications: readonly Application[]): Promise<readonly Checked[]> {
  const answers: Record<QuestionName, boolean | null>[] = applications.map(nothingKnown)
  await Promise.all(
    REGISTRIES.map(async (registry) => {
      const names = QUESTION_NAMES.filter((name) => QUESTIONS[name].registry === registry)
      const asked = applications.flatMap(({ uin }, at) => names.map((name) => ({ at, name, uin })))
      const batch = asked.map(({ name, uin }) => criteriaFor(name, uin))
      const said = await answered(registry, () => ask(registry, batch))
      for (const [index, { at, name }] of asked.entries()) {
        const known = answers[at]
        if (known !== undefined) known[name] = said[index] ?? null
      }
    }),
  )
  return applications.map(({ application }, at) => {
    const known = answers[at] ?? nothingKnown()
    return { application, ...decide(known, silentIn(known)) }
  })
}

/** A registry that does not answer stops nobody else's check: those who need it are to be checked. */
async function answered(registry: RegistryName, ask: () => ReturnType<Ask>): ReturnType<Ask> {
  try {
    return await ask()
  } catch (error) {
    console.error(`the ${registry} registry: ${error instanceof Error ? error.message : 'unknown problem'}`)
    return []
  }
}

const nothingKnown = (): Record<QuestionName, boolean | null> =>
  Object.fromEntries(QUESTION_NAMES.map((name) => [name, null])) as Record<QuestionName, null>

function silentIn(answers: Answers): readonly RegistryName[] {
  return REGISTRIES.filter((registry) =>
    QUESTION_NAMES.some((name) => QUESTIONS[name].registry === registry && answers[name] === null),
  )
}

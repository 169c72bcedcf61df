/** Filling columns and building indexes as a task of this node: it is begun, watched and stopped over the admin API. */

import type { Database } from '@rollcall/database/database'
import { safeDatabaseError } from '@rollcall/database/database-errors'
import { StoreRefusal } from '@rollcall/database/refusal'
import type { Log } from '@rollcall/observe/log'
import { oneOf } from '@rollcall/protocol'
import { type ApplyIndexesProgress, applyIndexes, areIndexesClaimed } from '@rollcall/records/registries/index-apply'
import { requireRegistry } from '@rollcall/records/registries/registries'
import Type, { type Static } from 'typebox'
import { type BaseActDeps, defineAct } from '../act.ts'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import { callerText } from '../caller.ts'
import type { HasClock, HasDatabase } from '../deps.ts'
import { closed, instant, isoTime, Namespace, orNull, text, wholeNumber } from '../members.ts'

const Names = (description: string) => Type.Array(Type.String(), { description })

const Progress = closed({
  state: oneOf(['none', 'running', 'elsewhere', 'done', 'failed', 'stopped'], {
    description: 'none: this node has built nothing since it was started; elsewhere: another node or a command is at it.',
  }),
  by: orNull(text('The operator who began it.')),
  began_at: orNull(instant('When it was begun.')),
  ended_at: orNull(instant('When it ended.')),
  task: orNull(text('The step that it is at.')),
  done: wholeNumber('Rows or blocks of the step that are done.'),
  total: wholeNumber('Of about how many; 0: not known.'),
  built: Names('Indexes that were built.'),
  filled: Names('Attributes and compounds whose columns were filled, such as Person.district.'),
  failure: orNull(text('Why it failed, where that can be said.')),
})
type Progress = Static<typeof Progress>

const NO_INDEX_BUILD: Progress = {
  state: 'none',
  by: null,
  began_at: null,
  ended_at: null,
  task: null,
  done: 0,
  total: 0,
  built: [],
  filled: [],
  failure: null,
}

/**
 * The builds of a node, one at a time, because each holds connections. A build that ends early keeps what it has done,
 * and the next one continues there.
 */
export interface IndexBuilder {
  /**
   * Begins a build, unless one is running in the registry.
   * @throws AdminRefusal a build is running in another registry
   */
  begin(namespace: string, by: string): Progress
  /** Returns the progress of building indexes in the registry with this namespace. */
  progress(namespace: string): Progress
  /** Stops the build of the registry, or all builds without a namespace; resolves when they have ended. */
  stop(namespace?: string): Promise<void>
}

interface IndexBuildTask {
  progress: Progress
  readonly abort: AbortController
  readonly ended: Promise<void>
}

export function createIndexBuilder({
  db,
  log,
  now = () => new Date(),
}: HasDatabase & HasClock & { readonly log: Pick<Log, 'error'> }): IndexBuilder {
  const builds = new Map<string, IndexBuildTask>()
  const progress = (namespace: string): Progress => builds.get(namespace)?.progress ?? NO_INDEX_BUILD
  const run = async (namespace: string, build: IndexBuildTask): Promise<void> => {
    const add = (more: Partial<Progress>): void => {
      build.progress = { ...build.progress, ...more }
    }
    const { signal } = build.abort
    const onProgress = ({ task, done, total }: ApplyIndexesProgress): void => add({ task, done, total })
    try {
      const { built, filled, finished } = await applyIndexes(db, namespace, { signal, onProgress })
      add({ state: finished ? 'done' : 'stopped', built: [...built], filled: [...filled] })
    } catch (error) {
      const isRefusal = error instanceof StoreRefusal
      if (!isRefusal) log.error(safeDatabaseError(error), 'indexes could not be built')
      add({ state: 'failed', failure: isRefusal ? error.message : null })
    }
    add({ task: null, ended_at: isoTime(now()) })
  }
  return {
    progress,
    begin(namespace, by) {
      if (progress(namespace).state === 'running') return progress(namespace)
      for (const [
        other,
        {
          progress: { state },
        },
      ] of builds) {
        if (state !== 'running') continue
        throw new AdminRefusal(
          'this server builds the indexes of another registry now; try again when it has ended, or use rollcall index apply',
          { reason: 'conflict', hint: ` (it builds those of ${other})` },
        )
      }
      const { promise, resolve } = Promise.withResolvers<void>()
      const began = { state: 'running' as const, by, began_at: isoTime(now()) }
      const build: IndexBuildTask = { progress: { ...NO_INDEX_BUILD, ...began }, abort: new AbortController(), ended: promise }
      builds.set(namespace, build)
      void run(namespace, build).finally(resolve)
      return build.progress
    },
    async stop(namespace) {
      const asked = namespace === undefined ? [...builds.values()] : [builds.get(namespace)]
      for (const build of asked) build?.abort.abort()
      await Promise.all(asked.map((build) => build?.ended))
    },
  }
}

export interface HasIndexBuilder extends HasDatabase {
  readonly indexing: IndexBuilder
}

const BUILD_SCHEMAS = { input: closed({ namespace: Namespace }), result: Progress }

/** Begins to fill the columns and to build the missing indexes of a registry, and answers at once. */
export const beginIndexBuild = defineAct(
  { name: 'index build', approval: 'never', ...BUILD_SCHEMAS },
  async ({ db, indexing, caller }: HasIndexBuilder & BaseActDeps, { namespace }) => {
    const progress = await progressOf({ db, indexing }, namespace)
    return progress.state === 'elsewhere' ? progress : indexing.begin(namespace, callerText(caller))
  },
)

/** Shows how far the build of a registry has come, or how the last one of this node ended. */
export const showIndexBuild = defineAdminFunction(BUILD_SCHEMAS, async (deps: HasIndexBuilder, { namespace }) =>
  progressOf(deps, namespace),
)

/** Stops the running build of a registry. What is done stays; the next build continues from there. */
export const stopIndexBuild = defineAct(
  { name: 'index build stop', approval: 'never', ...BUILD_SCHEMAS },
  async ({ db, indexing }: HasIndexBuilder, { namespace }) => {
    await indexing.stop(namespace)
    return progressOf({ db, indexing }, namespace)
  },
)

async function progressOf(
  { db, indexing }: { readonly db: Database; readonly indexing: IndexBuilder },
  namespace: string,
): Promise<Progress> {
  const { id } = await requireRegistry(db, namespace)
  const own = indexing.progress(namespace)
  if (own.state === 'running' || !(await areIndexesClaimed(db, id))) return own
  return { ...NO_INDEX_BUILD, state: 'elsewhere' }
}

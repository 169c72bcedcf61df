/** The benchmarks, by name: each loads us and a floor on the same machine in the same run and compares. */
import type { Row } from './shared/results.ts'

interface Benchmark {
  readonly measures: string
  /** Its `run` takes options, writes JSON into the folder of results, and answers its lines of the table. */
  readonly load: () => Promise<{ run(args: readonly string[]): Promise<readonly Row[]> }>
  /** Options with which it runs again, beside other floors. */
  readonly again?: readonly (readonly string[])[]
  /** True when the bench only counts, so that its result is the same on every machine: `npm test` judges it. */
  readonly counts?: true
}

export const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  search: {
    measures: 'a synchronous search, beside a bare Fastify route with the same look-up and a row in place of the entry',
    again: [['--plain-floor'], ['--one-commit-floor']],
    load: () => import('./search.ts'),
  },
  'signed-search': {
    measures: 'a signed one, verified, remembered and answered signed, beside a bare route that does the same',
    again: [['--plain-floor']],
    load: () => import('./signed-search.ts'),
  },
  'accounted-search': {
    measures: 'a signed one of a cut record, beside the floor of a signed one',
    load: () => import('./accounted-search.ts'),
  },
  async: {
    measures: 'a request that is answered by a callback, unsigned and signed, beside the least that does so',
    load: () => import('./async.ts'),
  },
  fairness: {
    measures: 'nine participants with and without a tenth that hangs, or is slow',
    load: () => import('./fairness.ts'),
  },
  hostile: {
    measures: 'a search beside eight large bodies of another participant, refused and valid ones',
    load: () => import('./hostile.ts'),
  },
  canonical: { measures: 'canonical JSON of a page of 1 MB, beside JSON.stringify of it', load: () => import('./canonical.ts') },
  query: {
    measures: 'searches of every form on populations of growing size, beside SQL written by hand',
    load: () => import('./query.ts'),
  },
  footprint: {
    measures: 'the source files and functions that a warm search, and an event, run through',
    counts: true,
    load: () => import('./footprint.ts'),
  },
  idle: {
    measures: 'transactions and processor time of a node without work, beside a bare Fastify process',
    load: () => import('./idle.ts'),
  },
  sizes: {
    measures: 'the bytes of a record of each kind, and of what an answered request leaves behind',
    load: () => import('./sizes.ts'),
  },
  events: {
    measures:
      'events until their notifications are received, beside a graphile-worker job for each envelope and a bare POST of it',
    load: () => import('./events.ts'),
  },
  enrolment: {
    measures: 'a question whether somebody is enrolled, beside a bare Fastify route with the same look-up',
    load: () => import('./enrolment.ts'),
  },
  backup: {
    measures: 'a backup and its restore, beside a bare COPY of the same tables out and in',
    load: () => import('./backup.ts'),
  },
  source: {
    measures: 'live records in another database, beside SQL written by hand with the same driver',
    load: () => import('./source.ts'),
  },
  import: { measures: 'an import, beside a bare COPY of the same lines', load: () => import('./import.ts') },
}

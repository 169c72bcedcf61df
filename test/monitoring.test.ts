/** Alert rules, dashboard and docs/monitoring.md use metrics that a server exports, with labels that they have. */
import { parser } from '@prometheus-io/lezer-promql'
import type { DeliveryHealth } from '@rollcall/core/model/health'
import { createMetrics, type Metrics } from '@rollcall/observe/metrics'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { text } from './deploy-files.ts'

/** Labels and their values of each metric; a histogram has the names of its series. */
type Exported = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>

const HEALTH: DeliveryHealth = {
  sender_id: 'p',
  pending: 1,
  oldest: 1,
  dead: 1,
  breakers_open: 1,
  breaker: 'open',
  notifications_waiting: 1,
  mailboxes_closed: 1,
}

/** One sample of everything, with every value of labels whose values are fixed. */
function sampled(): Metrics {
  const metrics = createMetrics(() => ({ total: 1, idle: 1, waiting: 0 }), undefined, {
    deliveries: async () => [HEALTH],
    outbox: async () => ({ waiting: 1, failed: 1, oldest: 1 }),
    exchanges: async () => ({ waiting: 1, oldest: 1 }),
    ends: async () => [
      { what: 'grant', sender_id: 'p', of: 'civil', ends: 1 },
      { what: 'key', sender_id: 'p', of: 'sig', ends: 1 },
    ],
    schema: async () => ({ ahead: 0 }),
    mirrors: async () => [{ namespace: 'civil', lag: 1, behind: 1, rejects: 1, failure: null }],
  })
  for (const outcome of ['done', 'rejected', 'refused', 'failed'] as const) {
    for (const mode of ['sync', 'async', ''] as const) {
      metrics.requestAnswered({ route: 'search', mode, status: 200, outcome }, 1)
    }
  }
  metrics.itemAnswered('search', 'succ', 'none')
  metrics.emergencyUsed('p', 'civil')
  for (const counted of ['items', 'records'] as const) metrics.grantRateRefused({ participant: 'p', registry: 'civil', counted })
  for (const outcome of ['issued', 'refused', 'throttled'] as const) metrics.tokenAnswered(outcome)
  for (const outcome of ['answered', 'timeout', 'failed'] as const) metrics.searched('civil', outcome, 1)
  metrics.requestRefused('total_rate')
  metrics.refused('err.request.bad', null)
  for (const task of ['process', 'drain']) metrics.taskEnded(task, 'done', 1)
  metrics.deliveryAttempted('delivered', 1)
  for (const state of ['delivered', 'refused', 'dead'] as const) metrics.deliveryEnded(state)
  for (const outcome of ['written', 'failed'] as const) metrics.audited(outcome, 1)
  for (const outcome of ['made', 'failed'] as const) metrics.checkpointMade(outcome)
  for (const outcome of ['taken', 'failed'] as const) metrics.witnessed(outcome, 0)
  return metrics
}

async function exports(): Promise<Exported> {
  const found = new Map<string, Map<string, Set<string>>>()
  const { text: rendered } = await sampled().render()
  for (const [, name = '', labels = ''] of rendered.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = found.get(name) ?? new Map<string, Set<string>>()
    found.set(name, known)
    for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="([^"]*)"/g)) {
      known.set(label, (known.get(label) ?? new Set()).add(value))
    }
  }
  return found
}

let exported: Exported
beforeAll(async () => {
  exported = await exports()
})

/** Labels that Prometheus adds. */
const ADDED = ['job', 'instance']
/** Series of Prometheus itself, with their labels. */
const OF_PROMETHEUS: Readonly<Record<string, readonly string[]>> = { up: [], ALERTS: ['alertname', 'alertstate'] }
/** Labels whose values are those of a deployment, and not of the code. */
const OPEN_LABELS = new Set(['participant', 'registry', 'kind', 'code', 'refusal', 'ending', 'operation', ...ADDED])

const rules: readonly { record?: string; alert?: string; expr: string }[] = parse(
  text('deploy/prometheus/rules.yaml'),
).groups.flatMap(({ rules }: { rules: readonly object[] }) => rules)
const recorded = new Set(rules.flatMap(({ record }) => record ?? []))

/** Faults of an expression: series and labels that do not exist. */
function problems(expression: string): readonly string[] {
  // An interval that Grafana fills in.
  const query = expression.replaceAll('$__rate_interval', '5m')
  const wrong: string[] = []
  const names: string[] = []
  const labels: [string, string | null][] = []
  parser.parse(query).iterate({
    enter({ type, from, to, node }) {
      const said = query.slice(from, to)
      if (type.isError) wrong.push(`it is no PromQL at ${from}`)
      if (type.name === 'VectorSelector') names.push(query.slice(node.firstChild?.from ?? from, node.firstChild?.to ?? to))
      if (type.name === 'GroupingLabels') {
        for (const label of said.match(/\w+/g) ?? []) labels.push([label, null])
      }
      if (type.name === 'UnquotedLabelMatcher') {
        const [, label = '', operator = '', value = ''] = /^(\w+)\s*([=!~]+)\s*"(.*)"$/.exec(said) ?? []
        labels.push([label, operator === '=' ? value : null])
      }
    },
  })
  if (names.length === 0) wrong.push('it names no metric')
  const known = new Map<string, Set<string> | null>()
  for (const name of names) {
    const own = exported.get(name)
    const others = OF_PROMETHEUS[name] ?? (recorded.has(name) ? [] : undefined)
    if (own === undefined && others === undefined) wrong.push(`${name} is not exported`)
    for (const label of [...(others ?? []), ...ADDED]) known.set(label, null)
    for (const [label, values] of own ?? []) known.set(label, new Set(values))
  }
  for (const [label, value] of labels) {
    const values = known.get(label)
    if (values === undefined) wrong.push(`${label} is no label of ${names.join(', ')}`)
    else if (value !== null && value !== '' && !OPEN_LABELS.has(label) && values !== null && !values.has(value)) {
      wrong.push(`${label} is never ${value}`)
    }
  }
  return wrong
}

describe('the check itself', () => {
  it.each([
    ['sum(rollcall_nothing)', 'rollcall_nothing is not exported'],
    ['sum by (nobody) (rollcall_outbox_rows)', 'nobody is no label of rollcall_outbox_rows'],
    ['rollcall_outbox_rows{state="lost"}', 'state is never lost'],
    ['rollcall_outbox_rows{status="failed"}', 'status is no label of rollcall_outbox_rows'],
    ['sum(rollcall_outbox_rows', 'it is no PromQL at 24'],
    ['1 + 1', 'it names no metric'],
  ])('%s: %s', (expression, problem) => {
    expect(problems(expression)).toContain(problem)
  })
})

describe('rules.yaml', () => {
  it.each(rules.map((rule) => [rule.alert ?? rule.record, rule.expr]))('%s', (_name, expr) => {
    expect(problems(expr ?? '')).toEqual([])
  })

  it('has alerts with a severity and what to do, and no name twice', () => {
    const alerts = rules.filter(({ alert }) => alert !== undefined)
    expect(alerts.length).toBeGreaterThan(20)
    for (const alert of alerts) {
      expect(alert).toMatchObject({
        labels: { severity: expect.stringMatching(/^(?:page|ticket)$/) },
        annotations: { summary: expect.any(String), description: expect.any(String) },
      })
    }
    const names = rules.map(({ alert, record }) => alert ?? record)
    expect(new Set(names).size).toBe(names.length)
  })

  it('uses labels in its texts that its expressions leave', () => {
    for (const rule of rules) {
      const named = [...JSON.stringify(rule).matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label ?? '')
      const grouped = /\bby \(([^)]*)\)/.exec(rule.expr)?.[1]?.split(', ')
      const free = /^(?:max|sum|min|absent)\(/.test(rule.expr)
      const left = grouped ?? (free ? [] : [...ADDED])
      expect(
        named.filter((label) => !left.includes(label)),
        rule.alert,
      ).toEqual([])
    }
  })
})

describe('the dashboard', () => {
  interface Panel {
    readonly id: number
    readonly type: string
    readonly title: string
    readonly description?: string
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
    readonly targets?: readonly { readonly expr: string; readonly legendFormat?: string }[]
  }
  const dashboard: { panels: readonly Panel[]; annotations: { list: readonly { expr: string }[] } } = JSON.parse(
    text('deploy/grafana/rollcall.json'),
  )
  const panels = dashboard.panels.filter(({ type }) => type !== 'row')
  const queries = [
    ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
    ...dashboard.annotations.list.map(({ expr }) => ['alerts', expr] as const),
  ]

  it.each(queries)('%s: %s', (_title, expr) => {
    expect(problems(expr)).toEqual([])
  })

  it('has a row for each subject', () => {
    expect(dashboard.panels.filter(({ type }) => type === 'row').map(({ title }) => title)).toEqual([
      ...['Overview', 'Requests and searches', 'Accepted requests and deliveries', 'Events and notifications'],
      ...['Circuit breakers', 'Database pool', 'Audit log', 'Grants and keys that end within 30 days'],
      ...['Nodes', 'Copies of sources'],
    ])
  })

  it('names labels in its legends that its queries leave, and explains every panel', () => {
    for (const { title, description = '', targets = [] } of panels) {
      expect(description, title).toMatch(/\.$/)
      for (const { expr, legendFormat = '' } of targets) {
        const grouped = /\bby \(([^)]*)\)/.exec(expr)?.[1]?.split(', ') ?? ADDED
        const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label ?? '')
        expect(
          named.filter((label) => !grouped.includes(label)),
          title,
        ).toEqual([])
      }
    }
  })

  it('has ids once, and panels that do not lie on one another', () => {
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)} ${y + Math.floor(at / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
  })
})

it('docs/monitoring.md lists every metric of ours, with its labels', () => {
  const listed = [...text('docs/monitoring.md').matchAll(/^\| `(rollcall_\w+)` \|([^|]*)\|/gm)].map(
    ([, name = '', labels = '']) => [name, [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label).toSorted()],
  )
  const ours = new Map<string, readonly string[]>()
  for (const [series, labels] of exported) {
    if (!series.startsWith('rollcall_')) continue
    const histogram = series.replace(/_(?:bucket|sum|count)$/, '')
    const name = exported.has(`${histogram}_bucket`) ? histogram : series
    ours.set(name, [...new Set([...(ours.get(name) ?? []), ...labels.keys()])].filter((label) => label !== 'le').toSorted())
  }
  expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(ours))
})

it('docs/production.md names every alert that stands for an objective', () => {
  const page = text('docs/production.md')
  const named = [...page.matchAll(/`(Rollcall[A-Z]\w+)`/g)].map(([, name]) => name)
  const alerts = rules.flatMap(({ alert }) => alert ?? [])
  expect(named.filter((name) => !alerts.includes(name ?? ''))).toEqual([])
  for (const name of ['RollcallFailuresFast', 'RollcallSearchesSlow', 'RollcallExchangesLate', 'RollcallNotAccounted']) {
    expect(named).toContain(name)
  }
})

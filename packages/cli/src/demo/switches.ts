/** The page of the demo, for this machine alone: it switches the receiver and the simulation on and off. */
import { isLoopback } from '@rollcall/base/shared/loopback'
import { type CallbackServer, listenForCallbacks } from '../asking/listening.ts'
import { CommandError } from '../failure.ts'
import type { DemoFile } from './demo-file.ts'
import { type DemoReceiver, RECEIVER_HOST, RECEIVER_PATH } from './receiver.ts'
import type { DemoSimulation } from './simulation.ts'

interface SwitchDeps {
  readonly demo: Pick<DemoFile, 'admin' | 'participant'>
  /** The receiver; null when the demo runs none. */
  readonly receiver: DemoReceiver | null
  readonly simulation: Pick<DemoSimulation, 'isRunning' | 'run'>
}

/** What a POST to each path switches. */
const DEMO_SWITCHES_BY_PATH: Readonly<Record<string, (switched: SwitchDeps) => void>> = {
  '/receiver/break': ({ receiver }) => receiver?.answer(false),
  '/receiver/mend': ({ receiver }) => receiver?.answer(true),
  '/simulation/start': ({ simulation }) => simulation.run(true),
  '/simulation/stop': ({ simulation }) => simulation.run(false),
}

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** Starts the listener for the page and callbacks. @param port that of an earlier start; any free port if it is 0 or in use */
export async function startDemoPage(switched: SwitchDeps, port: number): Promise<CallbackServer> {
  const handle = (request: Request): Promise<Response> => answerPageRequest(switched, server.url, request)
  const server = await listenForCallbacks({ host: RECEIVER_HOST, port }, handle).catch((error: unknown) => {
    if (port === 0 || !(error instanceof CommandError)) throw error
    return listenForCallbacks({ host: RECEIVER_HOST, port: 0 }, handle)
  })
  return server
}

async function answerPageRequest(switched: SwitchDeps, url: string, request: Request): Promise<Response> {
  const fault = pageRequestProblem(request)
  if (fault !== null) return new Response(`${fault}\n`, { status: 403, headers: { 'Content-Type': 'text/plain' } })
  const { method, headers } = request
  const { pathname } = new URL(request.url)
  if (pathname.startsWith(RECEIVER_PATH) && switched.receiver !== null) return switched.receiver.handle(request)
  if (pathname === '/' && method === 'GET') {
    const isForPeople = headers.get('accept')?.includes('text/html') === true
    return isForPeople ? switchPageResponse(switched, url) : Response.json(receiverAndSimulationState(switched, url))
  }
  const act = method === 'POST' ? DEMO_SWITCHES_BY_PATH[pathname] : undefined
  if (act === undefined) return new Response(null, { status: 404 })
  act(switched)
  return new Response(null, { status: 303, headers: { Location: '/' } })
}

/**
 * Returns the reason to refuse a request; null: it is accepted. Refuses a Host that is not this machine (DNS rebinding), and a
 * POST from a web page of another origin. A request without Origin and Sec-Fetch-Site, such as one of curl, is accepted.
 */
function pageRequestProblem({ method, headers }: Request): string | null {
  const host = headers.get('host') ?? ''
  if (!isLoopback(URL.parse(`http://${host}`)?.hostname ?? '')) return 'Host: must name this machine'
  if (method === 'GET') return null
  if ((headers.get('sec-fetch-site') ?? 'same-origin') !== 'same-origin') return 'Sec-Fetch-Site: must be same-origin'
  return (headers.get('origin') ?? `http://${host}`) === `http://${host}` ? null : 'Origin: must be this page'
}

const receiverAndSimulationState = ({ demo, receiver, simulation }: SwitchDeps, url: string) => ({
  receiver: receiver && { sender_id: demo.participant.sender_id, url: `${url}${RECEIVER_PATH}`, ...receiver.state() },
  simulation: { running: simulation.isRunning() },
})

function switchPageResponse(switched: SwitchDeps, url: string): Response {
  const { receiver, simulation } = receiverAndSimulationState(switched, url)
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Switches of the demo</title>
<link rel="icon" href="data:,">
<style>body { max-width: 42rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 sans-serif } button { font: inherit }</style>
</head>
<body><main>
<h1>Switches of the demo</h1>
<p><a href="/">Look again</a> or go <a href="${switched.demo.admin.base_url}/">back to the console</a>.</p>
${receiver === null ? '' : receiverSection(receiver, switched.demo.admin.base_url)}
<section aria-labelledby="simulation">
<h2 id="simulation">Simulation</h2>
<p>${simulation.running ? 'The registries live: every second a few events and searches come.' : 'The simulation is stopped.'}</p>
${simulation.running ? buttonHtml('/simulation/stop', 'Stop the simulation') : buttonHtml('/simulation/start', 'Let it live')}
</section>
</main></body>
</html>
`
  return new Response(text, {
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': CONTENT_SECURITY_POLICY,
      'Cache-Control': 'no-store',
    },
  })
}

type ReceiverState = NonNullable<ReturnType<typeof receiverAndSimulationState>['receiver']>

function receiverSection(receiver: ReceiverState, consoleUrl: string): string {
  const { sender_id, url, answers, taken, not_taken, last_message_id } = receiver
  const search = `${consoleUrl}/#/try?answer=later&sender_id=${encodeURIComponent(sender_id)}`
  return `<section aria-labelledby="receiver">
<h2 id="receiver">Receiver of callbacks</h2>
<p>The demo takes the callbacks of <code>${escapeHtml(sender_id)}</code> itself. Make it fail,
<a href="${escapeHtml(search)}">try a search that is answered later</a>, and watch its timeline. Then let it answer again: what
waits is sent at its next attempt, or with “Retry now” on the page of <a href="${consoleUrl}/#/deliveries">deliveries</a>.</p>
<dl>
<dt>State</dt><dd>${answers ? 'It answers.' : 'It fails: it answers each callback with HTTP 503.'}</dd>
<dt>Address</dt><dd><code>${url}</code></dd>
<dt>Callbacks taken</dt><dd>${taken}</dd>
<dt>Callbacks not taken</dt><dd>${not_taken}</dd>
<dt>message_id of the last one taken</dt><dd>${last_message_id === null ? 'none yet' : escapeHtml(last_message_id)}</dd>
</dl>
${answers ? buttonHtml('/receiver/break', 'Make it fail') : buttonHtml('/receiver/mend', 'Let it answer')}
</section>`
}

const buttonHtml = (path: string, title: string): string =>
  `<form method="post" action="${path}"><button>${title}</button></form>`

const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

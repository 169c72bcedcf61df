/** The text that is printed when the demo is ready: its addresses, and commands to paste into a shell. */
import { kindNamed, operation, PROTOCOL_VERSION } from '@rollcall/protocol'
import type { DemoFile, DemoRegistry } from './demo-file.ts'

/**
 * Returns the greeting of the demo, with commands for bash and for sh.
 * @param options.path path of demo.json
 * @param options.link link that signs in to the console
 * @param options.demoPage address of the page of the demo
 * @param options.place the folder and ports of the demo (default: the usual ones)
 */
export function greetingText(
  demo: DemoFile,
  {
    path,
    link,
    demoPage,
    place = USUAL_FOLDER_AND_PORTS,
  }: { readonly path: string; readonly link: string; readonly demoPage: string; readonly place?: DemoFolderAndPorts },
): string {
  const rollcall = rollcallCommand(place)
  const [first] = demo.registries
  const event = kindNamed(first?.kind ?? '')?.event_types[0]?.name ?? ''
  return `Rollcall's demo listens on ${demo.base_url}: ${demo.registries.length} registries of synthetic people.
In another terminal, this command asks the first one, and waits for its callback:

${rollcall} search --identifier ${firstSampleIdentifier(demo)} --listen 0

Start page: ${demo.base_url} shows the first search in curl, and leads to the reference page of each registry
Console, by this link once, within 15 minutes: ${link}
Another such link: ${rollcall} operator link demo-console
Partner page, by the link that this command prints: ${partnerPageLinkCommand(demo, place)}
Let the demo live, break it and mend it: ${demoPage}
Receive events: ${rollcall} subscribe ${first?.namespace} --event ${event} --listen
Let people be born and die: ${rollcall} simulate ${first?.namespace} --rate 2
The client secret, keys, the token of the admin API and more identifiers: ${path}
Ctrl-C stops it.`
}

export interface DemoFolderAndPorts {
  /** The folder of the demo; null for the usual one. */
  readonly data: string | null
  readonly port: number
  readonly adminPort: number
}

const USUAL_FOLDER_AND_PORTS: DemoFolderAndPorts = { data: null, port: 8080, adminPort: 8081 }

/** Returns the command `rollcall` as text. The text begins with the variables that the command needs in another terminal. */
const rollcallCommand = (place: DemoFolderAndPorts): string => `${shellVariablesText(place)}npx rollcall`

/** The command that prints a link to the partner page of the demo's participant. */
export const partnerPageLinkCommand = ({ participant }: DemoFile, place: DemoFolderAndPorts): string =>
  `${rollcallCommand(place)} participant link ${participant.sender_id}`

/** The variables by which a command in another terminal finds this demo; empty for the usual folder and ports. */
function shellVariablesText({ data, port, adminPort }: DemoFolderAndPorts): string {
  const settings = [
    data === null ? '' : `ROLLCALL_DATA=${quoteForShell(data)} `,
    port === USUAL_FOLDER_AND_PORTS.port ? '' : `PORT=${port} `,
    adminPort === port + 1 ? '' : `ADMIN_PORT=${adminPort} `,
  ]
  return settings.join('')
}

/** An identifier that the first registry has (of its first sample record), as `TYPE=VALUE`, quoted for the shell. */
function firstSampleIdentifier({ registries }: DemoFile): string {
  const [sample] = registries[0]?.samples ?? []
  return quoteForShell(`${sample?.identifier_type}=${sample?.identifier_value}`)
}

/** Returns two `curl` commands: one stores a token in a shell variable, the other searches the first registry with it. */
export function curlCommandsText(demo: DemoFile): string {
  const [registry] = demo.registries
  if (registry === undefined) throw new Error('the demo has no registry')
  const { client_id, client_secret } = demo.participant
  const [path = ''] = operation('search').sync_paths
  return `TOKEN=$(curl -s ${quoteForShell(demo.token_url)} \\
  -d grant_type=client_credentials -d client_id=${client_id} -d client_secret=${client_secret} |
  sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')

curl -s ${quoteForShell(`${registryUrl(demo, registry)}/${path}`)} \\
  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d ${quotedSearchBody(demo, registry)}; echo`
}

/** Returns a search as JSON in single quotes, with gaps in the quotes where the shell inserts the time and a new number. */
function quotedSearchBody(demo: DemoFile, registry: DemoRegistry): string {
  const text = quoteForShell(JSON.stringify(searchRequest(demo, registry)))
  return text
    .replaceAll(NOW_PLACEHOLDER, `'"$(date -u +%Y-%m-%dT%H:%M:%SZ)"'`)
    .replaceAll(UNIQUE_NUMBER_PLACEHOLDER, `'"$(date +%s)$RANDOM"'`)
}

/** Placeholders in the search. `quotedSearchBody` replaces them by shell text that inserts the time, and a number for new ids. */
const NOW_PLACEHOLDER = '@now@'
const UNIQUE_NUMBER_PLACEHOLDER = '@number@'

function searchRequest(demo: DemoFile, registry: DemoRegistry) {
  const { action } = operation('search')
  const [sample] = registry.samples
  const query = { type: sample?.identifier_type, value: sample?.identifier_value }
  return {
    header: {
      version: PROTOCOL_VERSION,
      message_id: `demo-${UNIQUE_NUMBER_PLACEHOLDER}`,
      message_ts: NOW_PLACEHOLDER,
      action,
      sender_id: demo.participant.sender_id,
      receiver_id: registry.receiver_id,
      total_count: 1,
    },
    message: {
      transaction_id: `demo-${UNIQUE_NUMBER_PLACEHOLDER}`,
      search_request: [
        {
          reference_id: '1',
          timestamp: NOW_PLACEHOLDER,
          search_criteria: {
            reg_type: registry.reg_type,
            reg_record_type: registry.reg_record_type,
            query_type: 'idtype-value',
            query,
          },
        },
      ],
    },
  }
}

const registryUrl = (demo: DemoFile, { namespace }: DemoRegistry): string => `${demo.base_url}/${namespace}/v${PROTOCOL_VERSION}`

/** Quotes any text as one word for the shell. */
const quoteForShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

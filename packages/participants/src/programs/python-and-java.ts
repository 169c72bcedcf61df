/** Shows a search, or another call, as programs that use the files of examples/python and examples/java. */
import {
  DEFAULT_SIGNATURE_PROFILE,
  type JsonObject,
  type JsonValue,
  PROTOCOL_VERSION,
  type SignatureProfile,
  TOKEN_PATH,
} from '@rollcall/protocol'
import { KEY_PLACEHOLDER } from './curl-and-typescript.ts'

/** The registry, the participant and its key for which a Python or Java program is shown. */
export interface ProgramParties {
  readonly namespace: string
  readonly registry: { readonly sender_id: string }
  readonly participant: { readonly sender_id: string; readonly signature_profile: SignatureProfile }
  /** The kid of the key with which the participant signs; null when it has registered none. */
  readonly kid: string | null
}

/** The parties of a program, and the search that it shows. `later`: the search is answered by callback. */
export interface ProgramPartiesAndSearch extends ProgramParties {
  readonly criteria: JsonObject
  readonly later: boolean
}

const OUR_KEY_SET_PATH = '/.well-known/jwks.json'
const KID_PLACEHOLDER = 'KID'

export const searchAsPython = ({ criteria, later, ...program }: ProgramPartiesAndSearch): string =>
  pythonProgram(program, `${later ? 'search_later' : 'search'}(${pythonLiteral(criteria)})`)

/**
 * Returns a Python program that uses rollcall.py, or only a comment when rollcall.py cannot sign as the participant does.
 * @param call the method of the registry and its arguments
 */
export function pythonProgram({ namespace, registry, participant, kid }: ProgramParties, call: string): string {
  const { sender_id, signature_profile: profile } = participant
  if (!canExampleProgramsSign(profile)) return `# ${unsupportedProfileText('rollcall.py', profile)}\n`
  const algorithms = profile.algorithms.map((name) => JSON.stringify(name)).join(', ')
  return `import os
from rollcall import Peer, Registry, SigningKey  # examples/python/rollcall.py

host = os.environ["REGISTRY"]
peer = Peer(${textLiteral(registry.sender_id)}, f"{host}${OUR_KEY_SET_PATH}", (${algorithms},), ${textLiteral(profile.digest_prefix)})
registry = Registry(
    f"{host}/${namespace}/v${PROTOCOL_VERSION}",
    peer,
    sender_id=${textLiteral(sender_id)},
    # ${KEY_PLACEHOLDER}
    key=SigningKey.from_file(os.environ["SIGNING_KEY"], kid=${textLiteral(kid ?? KID_PLACEHOLDER)}),
    token_url=f"{host}/${TOKEN_PATH}",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
)

print(registry.${call})
`
}

export function searchAsJava({ criteria, later, ...program }: ProgramPartiesAndSearch): string {
  const question = `(ObjectNode) json(${textLiteral(JSON.stringify(criteria))})`
  return javaProgram(program, later ? `searchLater(null, ${question})` : `search(${question})`)
}

/**
 * Returns a Java program that uses Rollcall.java, or only a comment when Rollcall.java cannot sign as the participant does.
 * @param call the method of the registry and its arguments; `json(...)` in the arguments parses a text
 */
export function javaProgram({ namespace, registry, participant, kid }: ProgramParties, call: string): string {
  const { sender_id, signature_profile: profile } = participant
  const isSupported = canExampleProgramsSign(profile) && profile.digest_prefix === '' && profile.algorithms.includes('EdDSA')
  if (!isSupported) return `// ${unsupportedProfileText('Rollcall.java', profile)}\n`
  return `import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** The class stands beside examples/java/Rollcall.java. */
public class Search {
  public static void main(String... words) throws Exception {
    String host = System.getenv("REGISTRY");
    var peer = new Rollcall.Peer(${textLiteral(registry.sender_id)}, new Rollcall.KeySet(host + "${OUR_KEY_SET_PATH}"));
    // ${KEY_PLACEHOLDER}
    var key = Rollcall.SigningKey.fromFile(Path.of(System.getenv("SIGNING_KEY")), ${textLiteral(kid ?? KID_PLACEHOLDER)});
    var tokens = new Rollcall.Tokens(
      host + "/${TOKEN_PATH}", System.getenv("CLIENT_ID"), System.getenv("CLIENT_SECRET"));
    var registry = new Rollcall.Registry(
      host + "/${namespace}/v${PROTOCOL_VERSION}", peer, ${textLiteral(sender_id)}, key, tokens);

    System.out.println(registry.${call});
  }

  private static JsonNode json(String text) {
    return Rollcall.readJson(text.getBytes(StandardCharsets.UTF_8));
  }
}
`
}

const { layout: LAYOUT, canonical_form: FORM } = DEFAULT_SIGNATURE_PROFILE

const canExampleProgramsSign = ({ layout, canonical_form }: SignatureProfile): boolean =>
  layout === LAYOUT && canonical_form === FORM

const unsupportedProfileText = (file: string, { layout, canonical_form, digest_prefix, algorithms }: SignatureProfile): string =>
  `${file} cannot sign as this participant does: ${[layout, canonical_form, digest_prefix, ...algorithms].filter((word) => word !== '').join(', ')}. docs/other-languages.md has the steps.`

/** A text as a literal, which JSON, Python and Java write alike. U+2028 and U+2029 are escaped. */
const textLiteral = (text: string): string => JSON.stringify(text).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')

function pythonLiteral(value: JsonValue): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'number') return JSON.stringify(value)
  if (typeof value === 'string') return textLiteral(value)
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(', ')}]`
  const members = Object.entries(value).map(([name, member]) => `${textLiteral(name)}: ${pythonLiteral(member)}`)
  return `{${members.join(', ')}}`
}

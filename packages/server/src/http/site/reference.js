/* global SwaggerUIBundle, programOf */
/*
 * The reference page: Swagger UI, whose requests are sent with a fresh message_id and, in a demo, with a token, and are
 * shown as programs.
 */
const reference = document.getElementById('reference')
const fresh = document.getElementById('fresh')
const { document: url, token: tokenUrl, client: clientId, secret: clientSecret } = reference.dataset

const dark = matchMedia('(prefers-color-scheme: dark)')
const applyScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', applyScheme)
applyScheme()

/* The token of the demo's participant; it is asked for anew after half of its life. */
let token = { value: '', until: 0 }
async function demoToken() {
  if (Date.now() < token.until) return token.value
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret })
  const answer = await (await fetch(tokenUrl, { method: 'POST', body })).json()
  token = { value: answer.access_token, until: Date.now() + answer.expires_in * 500 }
  return token.value
}

/* A message is accepted once. A signed one is sent as it is. */
function withFreshId(text) {
  try {
    const envelope = JSON.parse(text)
    if (!envelope.header || envelope.signature) return text
    envelope.header.message_id = crypto.randomUUID()
    envelope.header.message_ts = new Date().toISOString()
    return JSON.stringify(envelope, null, 2)
  } catch {
    return text
  }
}

async function prepared(request) {
  if (request.loadSpec) return request
  if (fresh.checked && typeof request.body === 'string') request.body = withFreshId(request.body)
  const isToken = new URL(request.url, location.href).pathname === new URL(tokenUrl, location.href).pathname
  if (clientSecret && !isToken && !request.headers.Authorization) {
    request.headers.Authorization = `Bearer ${await demoToken()}`
  }
  return request
}

const programs = JSON.parse(reference.dataset.programs)
const programIn = (language) => (request) =>
  programOf(programs, language, { url: new URL(request.get('url'), location.href), body: request.get('body') })

const ui = SwaggerUIBundle({
  domNode: reference,
  url,
  validatorUrl: null,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
  tryItOutEnabled: Boolean(clientSecret),
  displayRequestDuration: true,
  requestInterceptor: prepared,
  plugins: [
    () => ({
      fn: {
        requestSnippetGenerator_typescript: programIn('typescript'),
        requestSnippetGenerator_python: programIn('python'),
        requestSnippetGenerator_java: programIn('java'),
      },
    }),
  ],
  requestSnippetsEnabled: true,
  /* `syntax` is a language whose colours the viewer has. */
  requestSnippets: {
    generators: {
      curl_bash: { title: 'curl', syntax: 'bash' },
      typescript: { title: 'TypeScript', syntax: 'javascript' },
      python: { title: 'Python', syntax: 'bash' },
      java: { title: 'Java', syntax: 'javascript' },
    },
    defaultExpanded: true,
    /* curl_bash is a generator of the viewer; the others are above. */
    languages: ['curl_bash', 'typescript', 'python', 'java'],
  },
})
if (clientId) ui.initOAuth({ clientId, clientSecret })

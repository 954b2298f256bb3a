/** Where AWS's own tools look for keys on this machine, in their order, as far as variables say. */
import { awsFiles } from './aws-keys.ts'

export type AwsChain = {
  /** The files of profiles: keys, then configuration. */
  files: { credentials: string; config: string }
  profile: string
  /** A token in a file that is exchanged for keys (roles of service accounts). */
  webIdentity: { endpoint: string; role: string; session: string; tokenFile: string } | null
  /** The agent beside a container that hands out keys. */
  container: { url: string; token: string | null; tokenFile: string | null } | null
  /** The metadata service of a virtual machine; null where it is not to be asked. */
  metadata: string | null
}

const containerHost = 'http://169.254.170.2'
const metadataHost = 'http://169.254.169.254'

export function awsChain(env: Record<string, string | undefined>, region: string): AwsChain {
  const [credentials, config] = awsFiles(env) as [string, string]
  return {
    files: { credentials, config },
    profile: env.AWS_PROFILE || 'default',
    webIdentity: webIdentityOf(env, region),
    container: containerOf(env),
    metadata: env.AWS_EC2_METADATA_DISABLED === 'true' ? null : env.AWS_EC2_METADATA_SERVICE_ENDPOINT || metadataHost,
  }
}

function webIdentityOf(env: Record<string, string | undefined>, region: string): AwsChain['webIdentity'] {
  const { AWS_ROLE_ARN: role, AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile, AWS_ROLE_SESSION_NAME: session } = env
  if (!role || !tokenFile) return null
  const endpoint = env.AWS_ENDPOINT_URL_STS || `https://sts.${region}.amazonaws.com`
  return { endpoint, role, session: session || 'metier', tokenFile }
}

function containerOf(env: Record<string, string | undefined>): AwsChain['container'] {
  const { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: path, AWS_CONTAINER_CREDENTIALS_FULL_URI: full } = env
  const url = path ? containerHost + path : full
  if (!url) return null
  const { AWS_CONTAINER_AUTHORIZATION_TOKEN: token, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: tokenFile } = env
  return { url, token: token || null, tokenFile: tokenFile || null }
}

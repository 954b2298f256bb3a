/**
 * The keys that AWS's own tools find on this machine, so that they are kept out of the record,
 * whether we use them or not: a tool or a model may say what stands there.
 */
import { limits } from '#model/limits'

type Env = Record<string, string | undefined>

/** The two files in which those tools look for profiles. */
export function awsFiles({ HOME = '', AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE }: Env): string[] {
  return [AWS_SHARED_CREDENTIALS_FILE || `${HOME}/.aws/credentials`, AWS_CONFIG_FILE || `${HOME}/.aws/config`]
}

const variables = ['AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_CONTAINER_AUTHORIZATION_TOKEN']
const inFile = /^[ \t]*(?:aws_secret_access_key|aws_session_token|aws_security_token)[ \t]*=[ \t]*(.*?)[ \t]*$/gim

/** Those of the environment, and of every profile in the texts of the files. */
export function awsKeys(env: Env, texts: readonly string[]): string[] {
  const inFiles = texts.flatMap((text) => [...text.matchAll(inFile)].map(([, value]) => value!))
  const keys = [...variables.map((name) => env[name] ?? ''), ...inFiles]
  return keys.filter((key) => key.length >= limits.secretBytesMin)
}

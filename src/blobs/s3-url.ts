/** What an `s3://` URL says. */
import { DeclarationError } from '../errors/index.ts';

const PARAMETERS = ['endpoint', 'region', 'forcePathStyle'];
/** Longest prefix: with the longest key it still is a key of S3, which has at most 1,024 bytes. */
const LONGEST_PREFIX = 120;

/** Where an S3 store is. What is absent comes from the standard environment of AWS. */
export interface S3Place {
  /** The URL as it was given; there are no credentials in it. */
  url: string;
  bucket: string;
  /** Before every key: empty, or ends with `/`. */
  prefix: string;
  endpoint?: string;
  region?: string;
  forcePathStyle?: boolean;
}

/** Reads `s3://bucket/prefix?endpoint=…&region=…&forcePathStyle=true`; `prefix` and the parameters may be left out. */
export function readS3Url(url: URL): S3Place {
  const endpoint = url.searchParams.get('endpoint') ?? undefined;
  const region = url.searchParams.get('region') ?? undefined;
  const pathStyle = url.searchParams.get('forcePathStyle') ?? undefined;
  // First of all, for what holds credentials must not be shown.
  if (url.username || url.password || endpoint?.includes('@'))
    throw refused(
      'an s3:// URL',
      'credentials do not belong in it. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
    );
  const unknown = [...url.searchParams.keys()].find((name) => !PARAMETERS.includes(name));
  // A parameter that we do not know may hold anything, so its value is not shown.
  if (unknown !== undefined)
    throw refused(`an s3:// URL with ${unknown}`, `the parameters are ${PARAMETERS.join(', ')}.`);
  // Also where a slash in a password ended the host too soon.
  if (url.port) throw refused('an s3:// URL with a port', 'it is s3://bucket/prefix.');
  const where = url.href;
  if (url.hash) throw refused(where, 'it is s3://bucket/prefix, without a #.');
  if (!url.hostname) throw refused(where, 'it names no bucket.');
  if (endpoint !== undefined && !/^https?:$/.test(protocolOf(endpoint)))
    throw refused(where, 'its endpoint is no http:// or https:// URL.');
  if (pathStyle !== undefined && !['true', 'false'].includes(pathStyle))
    throw refused(where, 'forcePathStyle is true or false.');
  return {
    url: where,
    bucket: url.hostname,
    prefix: prefixOf(url),
    ...(endpoint !== undefined && { endpoint }),
    ...(region !== undefined && { region }),
    ...(pathStyle !== undefined && { forcePathStyle: pathStyle === 'true' }),
  };
}

function prefixOf(url: URL): string {
  const prefix = decoded(url.pathname.replaceAll(/^\/+|\/+$/g, ''));
  if (prefix === undefined || prefix.includes('//') || Buffer.byteLength(prefix) > LONGEST_PREFIX)
    throw refused(
      url.href,
      `its prefix is not folders joined by /, of at most ${LONGEST_PREFIX} bytes together.`,
    );
  return prefix && `${prefix}/`;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function protocolOf(text: string): string {
  return URL.canParse(text) ? new URL(text).protocol : '';
}

function refused(what: string, why: string): DeclarationError {
  return new DeclarationError(`Cannot open ${what} as a store of blobs: ${why}`);
}

/** The configuration files of a Swift of one machine: three storage servers and a proxy that speaks S3. */
import { userInfo } from 'node:os';

export interface SwiftPlace {
  readonly folder: string;
  /** The proxy listens here, the object, container and account servers on the next three. */
  readonly basePort: number;
  readonly account: string;
  readonly user: string;
  readonly secret: string;
}

type Section = Readonly<Record<string, string | number | boolean>>;

const write = (sections: Readonly<Record<string, Section>>): string =>
  Object.entries(sections)
    .map(([name, section]) => [`[${name}]`, ...Object.entries(section).map(([key, value]) => `${key} = ${value}`)])
    .map((lines) => `${lines.join('\n')}\n`)
    .join('\n');

const defaults = ({ folder }: SwiftPlace, port: number): Section => ({
  bind_ip: '127.0.0.1',
  bind_port: port,
  workers: 0,
  user: userInfo().username,
  swift_dir: folder,
  log_level: 'WARNING',
});

/** The names of the storage servers in the order of their ports after the proxy's. */
export const storageServers = ['object', 'container', 'account'] as const;

export function storageConfiguration(place: SwiftPlace, name: (typeof storageServers)[number]): string {
  const port = place.basePort + 1 + storageServers.indexOf(name);
  return write({
    DEFAULT: {
      ...defaults(place, port),
      devices: `${place.folder}/node`,
      mount_check: false,
      disable_fallocate: true,
    },
    'pipeline:main': { pipeline: `${name}-server` },
    [`app:${name}-server`]: { use: `egg:swift#${name}` },
  });
}

export function proxyConfiguration(place: SwiftPlace): string {
  const filters: Readonly<Record<string, Section>> = {
    catch_errors: {},
    gatekeeper: {},
    healthcheck: {},
    // tempauth insists on a cache; that nothing listens there is fine.
    cache: { memcache_servers: `127.0.0.1:${place.basePort + 4}` },
    listing_formats: {},
    s3api: { location: 'us-east-1' },
    tempauth: { [`user_${place.account}_${place.user}`]: `${place.secret} .admin` },
    slo: {},
    dlo: {},
  };
  const egg = (name: string): string => `egg:swift#${name === 'cache' ? 'memcache' : name}`;
  const sections = Object.entries(filters).map(([name, section]) => [`filter:${name}`, { use: egg(name), ...section }]);
  return write({
    DEFAULT: defaults(place, place.basePort),
    'pipeline:main': { pipeline: [...Object.keys(filters), 'proxy-server'].join(' ') },
    'app:proxy-server': { use: 'egg:swift#proxy', account_autocreate: true },
    ...Object.fromEntries(sections),
  });
}

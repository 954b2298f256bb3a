"""Verifies an exported run with nothing but Python's standard library: python3 verify.py [FOLDER] [--key PUBLIC_KEY]

The signature vouches for manifest.json, the manifest for every file, the chain of hashes for the order of the events, and the
events name the blobs and artifacts. Exit 0 if all of it holds, 1 with the first thing that does not. With --key the signature must
be of that key (64 hexadecimal digits); without, whose key it is remains for you to find out.
"""
import base64
import hashlib
import json
import os
import re
import stat
import sys

PAYLOAD_TYPE = 'application/vnd.in-toto+json'
PREDICATE_TYPE = 'urn:metier:run-export:v1'
PIECE = 1 << 20


class Refusal(Exception):
    pass


def demand(condition, reason):
    if not condition:
        raise Refusal(reason)


# Ed25519 (RFC 8032): the points of -x^2 + y^2 = 1 + d x^2 y^2 over the integers modulo P, written as (X, Y, Z, T) with
# x = X/Z, y = Y/Z and x y = T/Z, so that adding needs no division. The base point generates a group of the prime order L.
P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)
NEUTRAL = (0, 1, 1, 0)


def add(p, q):
    a = (p[1] - p[0]) * (q[1] - q[0]) % P
    b = (p[1] + p[0]) * (q[1] + q[0]) % P
    c = 2 * p[3] * q[3] * D % P
    d = 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def multiply(scalar, point):
    """Doubles and adds. Nothing here is secret, so time may depend on the scalar."""
    total = NEUTRAL
    while scalar > 0:
        if scalar & 1:
            total = add(total, point)
        point = add(point, point)
        scalar >>= 1
    return total


def x_of(y, is_odd):
    """The x that belongs to y, of the two the odd or the even one; None where y is on no point."""
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P != 0:
        x = x * ROOT_OF_MINUS_ONE % P
    if (x * x - square) % P != 0 or (x == 0 and is_odd):
        return None
    return P - x if x % 2 != is_odd else x


def decode_point(data):
    number = int.from_bytes(data, 'little')
    y, is_odd = number % 2**255, number >> 255
    x = x_of(y, is_odd) if y < P else None
    return None if x is None else (x, y, 1, x * y % P)


def encode_point(point):
    inverse = pow(point[2], P - 2, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y + (x % 2) * 2**255).to_bytes(32, 'little')


BASE_Y = 4 * pow(5, P - 2, P) % P
BASE_X = x_of(BASE_Y, 0)
BASE = (BASE_X, BASE_Y, 1, BASE_X * BASE_Y % P)


def is_signed(public, message, signature):
    """True where S times the base point, less k times the public point, is the R of the signature, byte for byte."""
    point = decode_point(public) if len(public) == 32 else None
    if point is None or len(signature) != 64:
        return False
    r, s = signature[:32], int.from_bytes(signature[32:], 'little')
    if s >= L:
        return False
    k = int.from_bytes(hashlib.sha512(r + public + message).digest(), 'little') % L
    negative = (P - point[0], point[1], point[2], P - point[3])
    return encode_point(add(multiply(s, BASE), multiply(k, negative))) == r


def verify_folder(folder, expected_key):
    predicate, manifest_digest, key = read_statement(folder)
    demand(expected_key is None or key == expected_key, 'statement.dsse.json is signed with another key, %s' % key)
    with open(os.path.join(folder, 'manifest.json'), 'rb') as file:
        text = file.read()
    demand(hashlib.sha256(text).hexdigest() == manifest_digest, 'manifest.json is not the one that was signed')
    manifest = json.loads(text.decode())
    for name in ('run', 'count', 'head', 'status', 'complete'):
        demand(manifest[name] == predicate[name], 'manifest.json and the statement differ in "%s"' % name)
    check_files(folder, manifest['files'])
    named = check_events(folder, manifest)
    kept = {file['path'] for file in manifest['files'] if file['path'].startswith(('blobs/', 'artifacts/'))}
    for path in sorted(kept - named):
        raise Refusal('no event names %s' % path)
    for path in sorted(named - kept):
        raise Refusal('%s is missing' % path)
    return manifest, key


def compact(value):
    return json.dumps(value, separators=(',', ':'), ensure_ascii=False)


def read_statement(folder):
    """The envelope must be written in exactly one way: so no byte of it can change unnoticed."""
    with open(os.path.join(folder, 'statement.dsse.json'), 'rb') as file:
        text = file.read().decode()
    envelope = json.loads(text)
    payload = envelope['payload']
    keyid, sig = envelope['signatures'][0]['keyid'], envelope['signatures'][0]['sig']
    same = compact({'payloadType': PAYLOAD_TYPE, 'payload': payload, 'signatures': [{'keyid': keyid, 'sig': sig}]}) + '\n'
    is_exact = text == same and is_base64(payload) and is_base64(sig)
    demand(is_exact, 'statement.dsse.json is not written as it should be')
    demand(re.fullmatch('[0-9a-f]{64}', keyid), 'statement.dsse.json names no public key')
    data = base64.b64decode(payload)
    signed = b'DSSEv1 %d %s %d %s' % (len(PAYLOAD_TYPE), PAYLOAD_TYPE.encode(), len(data), data)
    is_ours = is_signed(bytes.fromhex(keyid), signed, base64.b64decode(sig))
    demand(is_ours, 'the signature in statement.dsse.json does not fit')
    statement = json.loads(data.decode())
    demand(statement['_type'] == 'https://in-toto.io/Statement/v1', 'the statement is of another type')
    demand(statement['predicateType'] == PREDICATE_TYPE, 'the statement is about something else')
    subject = statement['subject']
    demand(len(subject) == 1 and subject[0]['name'] == 'manifest.json', 'the statement is not about manifest.json')
    return statement['predicate'], subject[0]['digest']['sha256'], keyid


def is_base64(text):
    return base64.b64encode(base64.b64decode(text, validate=True)).decode() == text


def check_files(folder, files):
    """Every file of the manifest with its size and digest, and no other."""
    found = set(files_in(folder, ''))
    for own in ('manifest.json', 'statement.dsse.json'):
        demand(own in found, '%s is missing' % own)
        found.remove(own)
    for file in files:
        path = file['path']
        demand(path in found, '%s is missing' % path)
        found.remove(path)
        demand(digest_of(os.path.join(folder, path)) == (file['bytes'], file['sha256']), '%s was changed' % path)
    for path in sorted(found):
        raise Refusal('%s does not belong here' % path)


def files_in(folder, path):
    for name in os.listdir(os.path.join(folder, path)):
        below = name if path == '' else path + '/' + name
        mode = os.lstat(os.path.join(folder, below)).st_mode
        demand(stat.S_ISREG(mode) or stat.S_ISDIR(mode), '%s is no file' % below)
        if stat.S_ISREG(mode):
            yield below
            continue
        is_ours = below == 'blobs' or re.fullmatch(r'artifacts(/[^/]+)?', below)
        demand(is_ours, '%s does not belong here' % below)
        yield from files_in(folder, below)


HEAD = re.compile(r'\{"run":"([^"\\]*)","n":([0-9]+),"at":"([^"\\]*)","type":"([^"\\]*)","body":\{')


def check_events(folder, manifest):
    """The chain from its first event to its head; answers with the files that its events name."""
    named = set()
    n, chain, at, kind = 0, '0' * 64, '', ''
    with open(os.path.join(folder, 'events.jsonl'), 'rb') as file:
        for line in file:
            n += 1
            demand(line.endswith(b'\n'), 'the last line of events.jsonl is cut off')
            line = line[:-1]
            text = line.decode()
            start = HEAD.match(text)
            is_next = start is not None and start[1] == manifest['run'] and start[2] == str(n)
            demand(is_next, 'line %d is not event %d of the run' % (n, n))
            demand(kind != 'run.finished', 'event %d comes after the end of the run' % n)
            demand(start[3] >= at, 'event %d is earlier than the one before' % n)
            at, kind = start[3], start[4]
            chain = hashlib.sha256(chain.encode() + b'\n' + line).hexdigest()
            if '"$blob"' in text or kind == 'artifact.stored':
                name_files(folder, n, json.loads(text), named)
    is_head = n == manifest['count'] and chain == manifest['head']
    demand(is_head, 'the events do not lead to the head that was signed')
    is_over = kind == 'run.finished'
    demand(manifest['complete'] == is_over, 'whether the run is finished is not what was signed')
    return named


def name_files(folder, n, event, named):
    def check(path, size, digest):
        demand(digest_of(os.path.join(folder, path)) == (size, digest), '%s is not what event %d says' % (path, n))
        named.add(path)

    body = event['body']
    for value in body.values():
        if isinstance(value, dict) and isinstance(value.get('$blob'), str):
            demand(re.fullmatch('[0-9a-f]{64}', value['$blob']), 'event %d names no digest of a blob' % n)
            check('blobs/' + value['$blob'], value['bytes'], value['$blob'])
    # What stands in a bucket has its digest here, and its bytes there.
    if event['type'] == 'artifact.stored' and 'store' not in body:
        is_place = re.fullmatch(r'[\w-]+', body['id'], re.A) and re.fullmatch(r'[\w-][\w.-]*', body['name'], re.A)
        demand(is_place, 'event %d names no artifact' % n)
        check('artifacts/%s/%s' % (body['id'], body['name']), body['bytes'], body['digest'])


def digest_of(path):
    digest, size = hashlib.sha256(), 0
    with open(path, 'rb') as file:
        for piece in iter(lambda: file.read(PIECE), b''):
            digest.update(piece)
            size += len(piece)
    return size, digest.hexdigest()


def main(words):
    expected_key = None
    if '--key' in words:
        at = words.index('--key')
        expected_key = words[at + 1]
        words = words[:at] + words[at + 2:]
    try:
        manifest, key = verify_folder(words[0] if words else os.path.dirname(os.path.abspath(__file__)), expected_key)
    except Exception as error:
        print('NOT OK: %s' % (error if isinstance(error, Refusal) else repr(error)))
        return 1
    status = manifest['status']
    state = status if manifest['complete'] else 'NOT FINISHED when it was exported (%s)' % status
    print('ok: run %s, %d events, %s' % (manifest['run'], manifest['count'], state))
    print('head %s\nsigned with key %s' % (manifest['head'], key))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

# Serves the seven tests on the given port, from the database that the image names, on the host tfb-database.
use strict;
use warnings;
use DBI;
use IO::Select;
use IO::Socket::INET;

my ($port) = @ARGV;
my @days = qw(Sun Mon Tue Wed Thu Fri Sat);
my @months = qw(Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec);
my $driver = $ENV{DATABASE} eq 'mysql' ? 'mysql:database' : 'Pg:dbname';
my $database = DBI->connect("dbi:$driver=hello_world;host=tfb-database", 'benchmarkdbuser', 'benchmarkdbpass', {RaiseError => 1});
my $read = $database->prepare('SELECT id, randomNumber FROM World WHERE id = ?');
my $write = $database->prepare('UPDATE World SET randomNumber = ? WHERE id = ?');
my %cache = map { $_->[0] => $_->[1] } @{$database->selectall_arrayref('SELECT id, randomNumber FROM World')};
my $listener = IO::Socket::INET->new(LocalAddr => '0.0.0.0', LocalPort => $port, Listen => 1024, ReuseAddr => 1, Blocking => 0) or die $!;
$SIG{$_} = sub { exit 0 } for qw(TERM INT);
$SIG{PIPE} = 'IGNORE';

sub drawn { 1 + int rand 10_000 }

sub count {
    my ($text) = @_;
    return 1 if $text !~ /^\d+$/ || $text < 1;
    return $text > 500 ? 500 : $text;
}

sub row {
    $read->execute(drawn());
    return $read->fetchrow_array;
}

sub json { sprintf '{"id":%d,"randomNumber":%d}', @_ }

sub updated {
    my ($id) = row();
    my $number = drawn();
    $write->execute($number, $id);
    return json($id, $number);
}

sub escaped {
    my ($text) = @_;
    my %entity = ('&' => '&amp;', '<' => '&lt;', '>' => '&gt;', '"' => '&quot;');
    $text =~ s/([&<>"])/$entity{$1}/g;
    return $text;
}

sub page {
    my $rows = $database->selectall_arrayref('SELECT id, message FROM Fortune');
    push @$rows, [0, 'Additional fortune added at request time.'];
    utf8::is_utf8($_->[1]) && utf8::encode($_->[1]) for @$rows;
    my $lines = join '', map { "<tr><td>$_->[0]</td><td>" . escaped($_->[1]) . '</td></tr>' } sort { $a->[1] cmp $b->[1] } @$rows;
    my $head = '<!doctype html><html><head><title>Fortunes</title></head><body><table><tr><th>id</th><th>message</th></tr>';
    return "$head$lines</table></body></html>";
}

sub body {
    my ($path) = @_;
    return ('text/plain', 'Hello, World!') if $path eq '/plaintext';
    return ('application/json', '{"message":"Hello, World!"}') if $path eq '/json';
    return ('application/json', json(row())) if $path eq '/db';
    return ('application/json', '[' . join(',', map { json(row()) } 1 .. count($1)) . ']') if $path =~ m{^/queries\?queries=(.*)};
    return ('application/json', '[' . join(',', map { updated() } 1 .. count($1)) . ']') if $path =~ m{^/updates\?queries=(.*)};
    return ('text/html; charset=utf-8', page()) if $path eq '/fortunes';
    return if $path !~ m{^/cached-worlds\?queries=(.*)};
    return ('application/json', '[' . join(',', map { json($_, $cache{$_}) } map { drawn() } 1 .. count($1)) . ']');
}

sub response {
    my ($type, $body) = body(@_);
    my $status = $type ? '200 OK' : '404 Not Found';
    $body //= '';
    my ($second, $minute, $hour, $day, $month, $year, $weekday) = gmtime;
    my $date = sprintf '%s, %02d %s %d %02d:%02d:%02d GMT', $days[$weekday], $day, $months[$month], $year + 1900, $hour, $minute, $second;
    my $head = join "\r\n", "HTTP/1.1 $status", 'Server: perl', "Date: $date", 'Content-Type: ' . ($type // 'text/plain'),
        'Content-Length: ' . length $body;
    return "$head\r\n\r\n$body";
}

my $readable = IO::Select->new($listener);
my %pending;
while (my @ready = $readable->can_read) {
    for my $socket (@ready) {
        if ($socket == $listener) {
            my $connection = $listener->accept or next;
            $readable->add($connection);
            $pending{$connection} = '';
            next;
        }
        my $count = sysread $socket, $pending{$socket}, 65536, length $pending{$socket};
        if (!$count) {
            $readable->remove($socket);
            delete $pending{$socket};
            close $socket;
            next;
        }
        my $out = '';
        $out .= response($1) while $pending{$socket} =~ s/^[A-Z]+ (\S+) HTTP.*?\r\n\r\n//s;
        syswrite $socket, $out if length $out;
    }
}

# Serves /plaintext and /json on the given port. With a second argument, two processes share the listener. They send
# "Hello, world!" in a different case and as chunks, as TechEmpower's rules allow.
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;

my ($port, $two) = @ARGV;
my @days = qw(Sun Mon Tue Wed Thu Fri Sat);
my @months = qw(Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec);
my %type = ('/plaintext' => 'text/plain', '/json' => 'application/json');
my $listener = IO::Socket::INET->new(LocalAddr => '0.0.0.0', LocalPort => $port, Listen => 1024, ReuseAddr => 1, Blocking => 0) or die $!;
$SIG{$_} = sub { exit 0 } for qw(TERM INT);
$SIG{PIPE} = 'IGNORE';
my $child = $two ? fork : undef;

sub response {
    my ($path) = @_;
    my $type = $type{$path};
    my ($status, $body) = $type ? ('200 OK', $type eq 'text/plain' ? 'Hello, World!' : '{"message":"Hello, World!"}') : ('404 Not Found', '');
    my ($second, $minute, $hour, $day, $month, $year, $weekday) = gmtime;
    my $date = sprintf '%s, %02d %s %d %02d:%02d:%02d GMT', $days[$weekday], $day, $months[$month], $year + 1900, $hour, $minute, $second;
    my $head = join "\r\n", "HTTP/1.1 $status", "Server: $ENV{SERVER_NAME}", "Date: $date", 'Content-Type: ' . ($type // 'text/plain');
    return sprintf "%s\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", $head, length $body, $body =~ s/W/w/r if $two && $type;
    return "$head\r\nContent-Length: " . length($body) . "\r\n\r\n$body";
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
